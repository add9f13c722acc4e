"""Seventy kinds of secrets that open nothing, and thirty ways in which a text may wrap what it says."""

from __future__ import annotations

import base64
import bz2
import gzip
import html
import io
import json
import lzma
import quopri
import random
import string
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote, quote_plus

_HEX: Final = "0123456789abcdef"
_UPPER: Final = string.ascii_uppercase + "234567"
_ALL: Final = string.ascii_letters + string.digits


def kinds(seed: int) -> dict[str, tuple[str, str]]:
    """By its name the secret of each kind, and the text that has it."""
    chance = random.Random(seed)

    def run(length: int, alphabet: str = _ALL) -> str:
        return "".join(chance.choice(alphabet) for _ in range(length))

    def uuid() -> str:
        return "-".join(run(length, _HEX) for length in (8, 4, 4, 4, 12))

    digits, lower = string.digits, string.ascii_lowercase
    basic = base64.b64encode(f"me:{run(14)}".encode()).decode()
    alone = {
        "aws": "AKIA" + run(16, _UPPER),
        "google": "AIza" + run(35),
        "github": "ghp_" + run(36),
        "github fine-grained": f"github_pat_{run(22)}_{run(59)}",
        "gitlab": "glpat-" + run(20),
        "slack": f"xoxb-{run(12, digits)}-{run(12, digits)}-{run(24)}",
        "stripe": "sk_live_" + run(24),
        "openai": "sk-" + run(48, string.ascii_letters),
        "openai of lower-case letters": "sk-" + run(48, lower),
        "anthropic": "sk-ant-api03-" + run(93) + "AA",
        "npm": "npm_" + run(36),
        "pypi": "pypi-AgEIcHlwaS5vcmc" + run(70),
        "hugging face": "hf_" + run(34),
        "sendgrid": f"SG.{run(22)}.{run(43)}",
        "jwt": f"eyJ{run(20)}.eyJ{run(30)}.{run(43)}",
        "sonar": "squ_" + run(40, _HEX),
        "artifactory": "AKCp" + run(69),
        "artifactory's reference": "cmVmdGtuOj" + run(54),
        "plaid": f"access-production-{uuid()}",
        "dropbox": "sl." + run(135, _ALL + "-_"),
        "mapbox": f"sk.eyJ1Ijoi{run(60)}.{run(22)}",
        "langsmith": f"lsv2_pt_{run(32, _HEX)}_{run(10, _HEX)}",
        "fireworks": "fw_" + run(24),
        "firecrawl": "fc-" + run(32, _HEX),
        "clickup": f"pk_{run(8, digits)}_{run(32, string.ascii_uppercase + digits)}",
        "of no issuer that is known": "zorp-dev-" + run(32),
        "of no issuer, in small letters": "zorp_" + run(48, lower + digits),
        "of no issuer, in two parts": f"zorpk_{run(6)}_{run(63)}",
        "digitalocean": "dop_v1_" + run(64, _HEX),
        "vault": "hvs." + run(90),
        "databricks": "dapi" + run(32, _HEX),
        "grafana": f"glsa_{run(32)}_{run(8, _HEX)}",
        "shopify": "shpat_" + run(32, _HEX),
        "doppler": "dp.pt." + run(43),
        "linear": "lin_api_" + run(40),
        "age": "AGE-SECRET-KEY-1" + run(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
        "telegram": f"{run(10, '123456789')}:AA{run(33)}",
        "discord": f"MT{run(24)}.{run(6)}.{run(38)}",
        "mailgun": "key-" + run(32, _HEX),
        "twilio": "SK" + run(32, _HEX),
        "notion": "ntn_" + run(46),
        "planetscale": "pscale_tkn_" + run(43),
        "tailscale": f"tskey-auth-{run(12)}CNTRL-{run(32)}",
        "new relic": "NRAK-" + run(27, string.ascii_uppercase + digits),
        "sentry": "sntryu_" + run(64, _HEX),
        "cargo": "cio" + run(32),
        "facebook": "EAA" + run(120),
        "duffel, which Betterleaks alone knows": "duffel_live_" + run(43),
    }
    said = {
        "jwt behind a low line": (f"eyJ{run(20)}.eyJ{run(30)}.{run(43)}", "the ci_{}"),
        "jwt behind a hyphen": (f"eyJ{run(20)}.eyJ{run(30)}.{run(43)}", "the build-{}"),
        "putty": (run(64, _ALL + "+/"), "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n{}\nPrivate-MAC: 0"),
        "braintree": (run(32, _HEX), f"access_token$production${run(16, lower + digits)}${{}}"),
        "azure devops": (run(52, lower + "234567"), "AZURE_DEVOPS_EXT_PAT={}"),
        "asana": (f"2/{run(16, digits)}/{run(16, digits)}:{run(32, _HEX)}", "ASANA_TOKEN={}"),
        "laravel": (base64.b64encode(bytes(chance.randrange(256) for _ in range(32))).decode(), "APP_KEY=base64:{}"),
        "launchdarkly": (f"sdk-{uuid()}", "LAUNCHDARKLY_SDK_KEY={}"),
        "option with a sign": (run(14, lower) + "7", "wget --user=me --password={} https://example.com/f"),
        "option within an option": (run(14, lower) + "7", "helm upgrade x ./x --set auth.password={}"),
        "before its program": (run(14, lower) + "7", "PGPASSWORD={} psql -h db shop"),
        "keytool": (run(12), "keytool -list -keystore k.jks -storepass {}"),
        "sqlplus": (run(14), "sqlplus scott/{}@orcl"),
        "pgpass": (run(14), "db.example.com:5432:shop:app:{}"),
        "bearer": (run(40, lower), "Authorization: Bearer {}"),
        "token": (run(24), "Authorization: Token {}"),
        "basic": (basic, "Authorization: Basic {}"),
        "cookie": (run(32), "Cookie: theme=dark; session={}"),
        "netrc": (run(16), "machine api.example.com login me password {}"),
        "option": (run(16), "deploy --password {} --force"),
        "mysql": (run(12), "mysql -u root -p{} shop"),
        "curl": (run(14), "curl -u me:{} https://api.example.com"),
        "sshpass": (run(12), "sshpass -p {} ssh me@host"),
        "sql": (run(14), "CREATE USER 'shop' IDENTIFIED BY '{}';"),
        "postgres": (run(14), "postgres://shop:{}@db.example.com/shop"),
        "assigned": (run(16) + "7!x3", 'password: "{}"'),
        "connection string": (run(14), "Server=db;User Id=sa;Password={};Encrypt=true"),
        "npmrc": (run(36), "//packages.example.com/:_authToken={}"),
    }
    return {name: (one, one) for name, one in alone.items()} | {
        name: (one, around.format(one)) for name, (one, around) in said.items()
    }


def _lines(text: str) -> str:
    encoded = base64.b64encode(text.encode()).decode()
    return "\n".join(encoded[start : start + 76] for start in range(0, len(encoded), 76))


def _notebook(text: str) -> str:
    cell = {"cell_type": "code", "source": ["import os\n", f"{text}\n"], "outputs": [{"text": f"x\n{text}\n"}]}
    return json.dumps({"cells": [cell]}, indent=1)


def _base64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def _zip(text: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("app.conf", (2026, 1, 1, 0, 0, 0)), text)
    return made.getvalue()


def _mail(text: str) -> str:
    said = f"Hello,\nhere is what you asked for, in a line that is broken: {text} bye\n"
    return "Content-Transfer-Encoding: quoted-printable\n\n" + quopri.encodestring(said.encode()).decode()


def _found_by_grep(text: str) -> str:
    shown = f"\x1b[01;31m\x1b[K{text[3:9]}\x1b[m\x1b[K"
    return f"\x1b[35mconf\x1b[m\x1b[36m:\x1b[m{text[:3]}{shown}{text[9:]}"


WRAPPINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "as it is": lambda text: f"begin\n{text}\nend",
    "a line feed of JSON": lambda text: json.dumps({"log": f"begin\n{text}\nend"}),
    "JSON in JSON in JSON": lambda text: json.dumps({"a": json.dumps({"b": json.dumps({"c": f"x\n\t{text}\r\n"})})}),
    "numbered escapes": lambda text: f"begin\\u000a{text}\\x0aend\\012",
    "an address": lambda text: f"https://example.com/?q=1%0A{quote(text, safe='')}%0Aend",
    "an address twice": lambda text: quote(quote(f"a=1&b\n{text}\n", safe=""), safe=""),
    "HTML": lambda text: f"<pre>x&#10;{html.escape(text)}&#x0A;</pre>",
    "a notebook": _notebook,
    "base64 of a ConfigMap": lambda text: f"kind: Secret\ndata:\n  conf: {_base64(text + chr(10))}\n",
    "base64 of an address, thrice": lambda text: (
        "x " + base64.urlsafe_b64encode(_base64(_base64(f"it is\n{text}\n")).encode()).decode().rstrip("=")
    ),
    "base64 in lines": lambda text: (
        f"begin\n{_lines('some text before it, and so on. ' * 4 + text + ' behind it')}\n\nend"
    ),
    "compressed": lambda text: "data: " + _base64(gzip.compress(text.encode(), mtime=0)),
    "compressed, in hexadecimal digits": lambda text: "blob " + gzip.compress(text.encode(), mtime=0).hex(),
    "compressed by zlib": lambda text: "data: " + _base64(zlib.compress(text.encode())),
    "compressed by bzip2": lambda text: "data: " + _base64(bz2.compress(text.encode())),
    "compressed by xz": lambda text: "data: " + _base64(lzma.compress(text.encode())),
    "an archive": lambda text: "data: " + _base64(_zip(text)),
    "hexadecimal digits of SQL": lambda text: f"INSERT INTO t VALUES (0x{text.encode().hex().upper()});",
    "hexadecimal digits of PostgreSQL": lambda text: f"INSERT INTO t VALUES ('\\x{text.encode().hex()}');",
    "UTF-16 of PowerShell": lambda text: "powershell -enc " + _base64(text.encode("utf-16-le")),
    "UTF-16 of a file": lambda text: "data: " + _base64(text.encode("utf-16")),
    "UTF-16, the other way": lambda text: "data: " + _base64(text.encode("utf-16-be")),
    "UTF-16 as text": lambda text: "begin " + "\0".join(text) + "\0 end",
    "base32": lambda text: "data: " + base64.b32encode(text.encode()).decode(),
    "a mail": _mail,
    "a form": lambda text: f"a=1%262&conf={quote_plus(text)}&b=%31",
    "shown by grep": _found_by_grep,
    "blanks of a word processor": lambda text: text.replace(" ", "\u00a0"),
    "an element": lambda text: f"<x><![CDATA[{text}]]></x>",
    "a cell of a table": lambda text: '1,"' + text.replace('"', '""') + '",x',
    "a string of SQL": lambda text: "INSERT INTO t VALUES ('" + text.replace("'", "''") + "');",
    "lines of a diff": lambda text: "@@ -1 +1 @@\n" + "\n".join(f"+{line}" for line in text.split("\n")),
}
