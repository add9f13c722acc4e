"""What is masked inside a text, what is not, and secrets by name."""

import base64
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gemini_companion
from gemini_companion.engine.ide_context.secret_names import is_secret_name
from gemini_companion.engine.ide_context.secrets import find_secrets, mask_between, mask_secrets
from tests.support.examples import examples

NOISE = random.Random(7)
BODY = "\n".join("".join(NOISE.choices("ABCDEFabcdef0123456789+/", k=64)) for _ in range(8)) + "\nMIIEcd=="


def noise(length: int, alphabet: str = "abcdefghijABCDEFGHIJ0123456789") -> str:
    return "".join(NOISE.choices(alphabet, k=length))


def pem(kind: str, between: str = "\n") -> str:
    lines = [f"-----BEGIN {kind}-----", *BODY.split("\n"), f"-----END {kind}-----"]
    return between.join(lines)


# Put together here, so that no scanner takes this file for a leak.
TOKENS = [
    ("AWS key", "AK" + "IA" + noise(16, "ABCDEFGH2345")),
    ("Google API key", "AI" + "za" + noise(35)),
    ("Google token", "ya" + "29." + noise(60)),
    ("GitHub token", "gh" + "p_" + noise(36)),
    ("GitHub token", "github" + "_pat_" + noise(22) + "_" + noise(59)),
    ("GitLab token", "gl" + "pat-" + noise(20)),
    ("Slack token", "xo" + "xb-" + noise(12, "0123456789") + "-" + noise(24)),
    ("Stripe key", "sk" + "_live_" + noise(24)),
    ("API key", "sk" + "-proj-" + noise(48)),
    ("npm token", "npm" + "_" + noise(36)),
    ("PyPI token", "py" + "pi-" + noise(90)),
    ("Hugging Face token", "hf" + "_" + noise(34)),
    ("SendGrid key", "SG" + "." + noise(22) + "." + noise(43)),
    ("JWT", "ey" + "J" + noise(30) + ".ey" + "J" + noise(80) + "." + noise(43)),
]


@pytest.mark.parametrize(("kind", "token"), TOKENS, ids=[kind for kind, _ in TOKENS])
@pytest.mark.parametrize("around", ['x = "{}"', "{}", "curl -H 'X: {}' host", "see {}, or", "https://h/?k={}&b=1"])
def test_tokens_are_masked_wherever_they_stand(kind: str, token: str, around: str):
    masked, count = mask_secrets(around.format(token))
    assert (masked, count) == (around.format(f"[masked: {kind}]"), 1)


@pytest.mark.parametrize(
    "kind", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
@pytest.mark.parametrize("between", ["\n", "\r\n", "\\n", "\n    ", '\\n"\n  + "', "\n+", "\n# "])
def test_private_keys_are_masked_whole_however_their_lines_are_joined(kind: str, between: str):
    assert mask_secrets(f"a = '{pem(kind, between)}'\nrest") == ("a = '[masked: private key]'\nrest", 1)


def test_a_private_key_with_headers_or_without_an_end_is_masked():
    headed = (
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n" + BODY
    )
    masked, count = mask_secrets(headed)
    assert (masked, count) == ("[masked: private key]", 1)


def test_public_keys_and_certificates_in_a_text_stay():
    for kind in ("PUBLIC KEY", "CERTIFICATE"):
        assert mask_secrets(pem(kind))[1] == 0


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('password = "{}"', "hunter2345"),
        ('"password": "{}",', "Tr0ub4dor&3"),
        ('password: "{}"', "aB3{x9(Qw!"),
        ("DB_PASSWORD={}\n", "s3cr3t!Pa55"),
        ("export API_TOKEN={}\n", "9f86d081884c7d659a2feaa0c55ad015"),
        ("smtp:\n  - pass: {}\n", "hunter2345"),
        ("export DB_PASS={}\r\n", "hunter2345"),
        ("spring.datasource.password={}", "hunter2345"),
        ("  api_key: '{}'", "b7x9K2mQ4zL8pW3n"),
        ("aws_secret_access_key = {}\n", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("const token: string = `{}`;", "q1W2e3R4t5Y6u7I8"),
        ("TOKEN: Final[str] = '{}'", "q1W2e3R4t5Y6u7I8"),
        ('os.environ["SECRET_KEY"] = "{}"', "q1W2e3R4t5Y6u7I8"),
        ("Server=db;User Id=sa;Password={};Encrypt=true", "Summ3r!2024"),
        ('{{\\"client_secret\\": \\"{}\\"}}', "q1W2e3R4t5Y6u7I8"),
        ("<password>{}</password>", "Summ3r!2024"),
        ("Authorization: Bearer {}\n", "q1W2e3R4t5Y6u7I8o9P0"),
        ("https://host/path?access_token={}&x=1", "q1W2e3R4t5Y6u7I8"),
        ("postgres://app:{}@db.internal:5432/app", "s3cr3t"),
        ("redis://:{}@cache:6379/0", "p@ss:word"),
        ("mongodb+srv://u:{}@c0.x.mongodb.net", "plainpassword"),
        ("hooks.slack.com/services/{}", "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
        ("define('DB_PASSWORD', '{}');", "q1W2e3R4t5Y6u7I8"),
        ('os.Setenv("API_TOKEN", "{}")', "q1W2e3R4t5Y6u7I8"),
        ("SET PASSWORD FOR 'app'@'db' = PASSWORD('{}');", "q1W2e3R4t5Y6u7I8"),
        ("setx SERVICE_API_KEY {}\n", "q1W2e3R4t5Y6u7I8"),
        ("setenv SERVICE_API_KEY {}\n", "q1W2e3R4t5Y6u7I8"),
        ("set -gx SERVICE_API_KEY '{}'\n", "q1W2e3R4t5Y6u7I8"),
        ('ConvertTo-SecureString "{}" -AsPlainText -Force', "hunter2345"),
        ('\tpsk="{}"\n', "hunter2345"),
        ("| a | `DB_PASS={}` | b |", "zcXbdFkWvhnq3Q"),
        ("-_auth = {}\n", "bWU6aHVudGVyMjM0NQ=="),
        ("-{}\n", "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"),
    ],
)
def test_assigned_values_and_connection_strings_are_masked_and_only_they(text: str, secret: str):
    masked, count = mask_secrets(text.format(secret))
    before, after = text.format("\0").split("\0")
    assert count == 1
    assert masked.startswith(before)
    assert masked.endswith("]" + after)
    assert secret not in masked


@pytest.mark.parametrize(
    "said",
    [
        *(
            "Das Passwort ist {}.",
            "Kennwort: {}",
            "La contraseña del servidor es {}",
            "A senha é {} por enquanto",
            "wachtwoord={}",
        ),
        *("Le mot de passe du compte est « {} »", "la password è {}", "Пароль: {}", "hasło do bazy to {}", "Şifre: {}"),
        *(
            "パスワード：{}",
            "パスワードは{}です。",
            "密码是{}。",
            "管理员密碼「{}」",
            "비밀번호는 {} 입니다",
            "암호: {}",
        ),
    ],
)
@pytest.mark.parametrize(
    "wrapped",
    [str, quote, lambda text: str(text.encode()), lambda text: base64.b64encode(text.encode()).decode()],
    ids=["as it is", "an address", "bytes", "base64"],
)
def test_passwords_are_masked_behind_the_word_of_many_languages(said: str, wrapped: Callable[[str], str]):
    text = "x " + wrapped(said.format("q1W2e3R4t5Y6u7I8") + " " + "and so on. " * 3)
    assert mask_secrets(text)[1] == 1
    assert "q1W2e3R4t5Y6u7I8" not in mask_secrets(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "Das Passwort steht in der Datei config/production.yml, Zeile 120.",
        "Das Kennwort hat 12 Zeichen, siehe https://wiki.example.com/kb/0815",
        "La contraseña se guarda en users.password_hash y nunca en claro.",
        "パスワードはsettings_local.pyに書いてあります。",
        "密码字段叫做 user_password_v2。",
        "Пароль проверяет check_password2(), см. auth/views.py",
        'define("PASSWORD_MIN_LENGTH", "12345678");',
        'field("password", "new_password_1")',
        'register("token", "TokenAuthentication")',
        "setx JAVA_TOKENIZER tokenizer_v2_large",
        "setenv TERM xterm-256color-keys",
        "self._auth = requests_auth_2",
    ],
)
def test_what_is_said_about_passwords_stays(text: str):
    assert mask_secrets(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "token = next(tokens)",
        "password = get_password()",
        "token: str",
        "def login(user: str, password: str = '') -> Token:",
        'token_type = "access_token_v2"',
        "password = os.environ['DB_PASSWORD']",
        'api_key = settings["api_key_2"]',
        "const token = await client.getToken2x(request);",
        'secret = "${SECRET_2}"',
        "  password: password1,",
        "login(password=password1)",
        "bypass = 3",
        "password: {{ vault_password_1a }}",
        'password_pattern = "^[a-z0-9!]{8,}$"',
        "password: <your-password-1>",
        "max_tokens = 4096",
        '"tokens": 1048576, "total": 12',
        'tokenizer = "cl100k_base"',
        'token_url = "https://oauth2.googleapis.com/token"',
        'expiry = {"token": "2024-01-02T03:04:05Z"}',
        "publicKeyToken=b77a5c561934e089",
        'if "-----BEGIN PRIVATE KEY-----" in text:\n    raise ValueError(text)',
        "https://user@host/path and http://host:8080/a@b",
        "postgres://user:${PASSWORD}@host/db",
        "https://{user}:{password}@{host}",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit 3a7bd3e2360a3d29eea436fcfb7e44c735d117c4",
        "integrity: sha512-oRm4P8dTvA1aYz9a7gwXl0y0QnZ4dDE2a5M6YxvZ0hZ0lQ==",
        "AIzaTooShort AKIAshort ghp_short eyJ.eyJ.x sk-learn-contrib-package",
        'message = "Bearer authentication is required"',
        "secrets: inherit",
        "SECRET_NAMES = frozenset({'.ssh'})",
    ],
)
def test_ordinary_code_stays_as_it_is(text: str):
    assert mask_secrets(text) == (text, 0)


def test_nothing_in_this_projects_sources_is_taken_for_a_secret():
    found = {
        str(path): find_secrets(text)
        for path in Path(gemini_companion.__file__).parent.rglob("*.py")
        if find_secrets(text := path.read_text("utf-8"))
    }
    assert found == {}


def test_of_overlapping_secrets_the_telling_kind_is_named():
    token = TOKENS[3][1]
    assert mask_secrets(f'api_token = "{token}"') == ('api_token = "[masked: GitHub token]"', 1)


def test_masking_part_of_a_text_masks_what_reaches_into_it_and_keeps_the_rest():
    text = "ab " + TOKENS[0][1] + " cd " + TOKENS[3][1] + " ef"
    for start in range(0, len(text), 3):
        for end in range(start, len(text), 5):
            shown, _ = mask_between(text, start, end)
            bare = shown.replace("[masked: AWS key]", "").replace("[masked: GitHub token]", "")
            assert set(bare) <= set("ab cdef ")


fragments = st.sampled_from(
    [token for _, token in TOKENS]
    + [
        pem("PRIVATE KEY"),
        'password="',
        "token: ",
        "secret=",
        "://u:",
        "@h",
        "Bearer ",
        "hunter2!",
        "q1W2e3R4t5Y6u7I8",
        " ",
        "\n",
        "'",
        '"',
        "=",
        "-----",
        "a",
        ".",
        "\u0130",
    ]
)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(fragments, max_size=8).map(" ".join) | st.lists(fragments, max_size=4).map("\n".join) | st.text())
def test_masking_again_finds_nothing_and_spans_are_in_order(text: str):
    found = find_secrets(text)
    assert all(0 <= secret.start < secret.end <= len(text) for secret in found)
    assert all(first.end <= second.start for first, second in pairwise(found))
    masked, count = mask_secrets(text)
    assert count == len(found)
    assert mask_secrets(masked) == (masked, 0)


HOSTILE = [
    "password=",
    "token",
    "eyJ-",
    "eyJabcdefgh.",
    "://a:",
    "://a:@",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nA-b: \n",
    'token="',
    "token: str ",
    "apikey:a=",
    "Bearer ",
    "sk-",
    "AKIA",
    "token \t",
    "a1",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_repetition_is_survived(piece: str):
    """Quadratic time would run into the suite's limit: 300,000 characters take well under a second, their square an
    hour.
    """
    text = piece * (300_000 // len(piece))
    assert len(mask_secrets(text)[0]) > 0


SECRET_NAMES = re.findall(
    r"\S+",
    """
    .env .env.local .env.example .ENV .envrc prod.env config.env.yml .env~ .env.bak #.env# .#.env server.pem server.key server.key.bak.old
    a.p8 a.p12 a.pfx a.jks a.keystore a.crt a.cer a.der a.ppk a.kdbx id_rsa id_rsa.pub id_ed25519 id_rsa.bak .id_rsa.swp id_rsa. ssh_host_rsa_key
    credentials credentials.json aws-credentials app_credentials.json service-account.json my-service-account-prod.json client_secret_123.json
    secrets.yml .secrets .npmrc .netrc _netrc .pypirc .pgpass .htpasswd .git-credentials kubeconfig
    .aws/config .ssh/config .ssh/known_hosts .gnupg/x/y .docker/config.json
    """,
)
PLAIN_NAMES = re.findall(
    r"\S+",
    """
    credentials.py secrets.py secrets.ts credentials.rs CredentialsView.swift id_rsa_parser.py a.key.ts a.env.ts letsencrypt.pem.md gpg.md
    monkey.py keyboard.ts environment.ts env.py env my.environment secretary.txt tokens.json config config.json key keys.json id.txt
    Makefile README.md docker/config.json .gitignore
    """,
)


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_secrets_are_known_by_name(name: str):
    assert is_secret_name(f"/home/u/ws/{name}")
    assert is_secret_name(f"C:\\ws\\{name.replace('/', chr(92)).upper()}")


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_ordinary_names_are_no_secrets(name: str):
    assert not is_secret_name(f"/home/u/ws/{name}")


@given(st.text())
def test_any_name_gets_an_answer(name: str):
    assert is_secret_name(name) in (True, False)


def test_a_name_that_no_file_can_have_is_refused_at_once():
    assert is_secret_name("/ws/" + ".bak" * 20_000)
