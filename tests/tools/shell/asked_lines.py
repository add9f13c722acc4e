"""Lines that are asked about by the usual rules."""

from __future__ import annotations

from typing import Final

ASKED: Final = (
    *r"""
rm x
mkdir build
touch a.py
cp a b
make
python3 a.py
./run.sh
/bin/ls
bin/ls
tool
nothing
npm testx
npm run build
npm
npx vitest
curl http://example.com
rg needle
echo $HOME
echo "$HOME"
echo $1
echo $?
echo $
echo "$@"
echo ${HOME}
echo "$(ls)"
echo "a $(ls) b"
echo $(<a.py)
echo $((1 + 1))
echo $[1+1]
echo "$((a[$(id)]))"
echo `id`
echo '`id`'
echo "`id`"
echo "\`id\`"
cat <(id)
ls > >(id)
cat <<< x
cat <<< "$(id)"
echo x > a.py
echo x >> a.py
echo x >| a.py
echo x &> a.py
echo x >& a.py
echo x 2> a.py
echo x > /etc/passwd
echo x > ~/x
echo x > $X
echo x > *.py
echo x <> a.py
echo x > package.json
echo x >& -
exec 3<>/dev/tcp/h/1
ls 3< a.py 4<&3-
cat < /etc/passwd
cat < ~/x
cat /etc/passwd
cat ../other/a.py
cat src/../../x
cat ~/x
cat .env
cat src/.env
cat id_rsa
cat *
cat *.py
cat src/*.py
cat ?.py
cat [ab].py
echo *
echo {a,b}
echo a{1..3}
echo ~root
echo a=~/x
cat /dev/sda
cat /proc/self/environ
grep -r needle .
grep -R needle .
grep needle /etc/passwd
grep -f /etc/passwd a.py
grep --no-such needle a.py
head /etc/passwd
wc --files0-from=a.py
sort -T /tmp a.py
sort --files0-from=a.py
sort -of a.py
sort --output=f a.py
uniq a.py b.py
diff a.py /etc/passwd
diff -r src docs
tail -f a.py
file -C -m a
find . -delete
find . -exec id {} +
find . -exec id \;
find . -execdir id \;
find . -ok id \;
find . -fprint f
find . -fls f
find . -files0-from f
find /etc -name x
find ~ -name x
find -L . -name x
sed -i s/a/b/ a.py
sed -n '1w f' a.py
sed '1r /etc/passwd' a.py
sed 's/a/id/e' a.py
sed 's/a/b/w f' a.py
sed -f a.sed a.py
sed -s -n -e '1e id' a.py
sed --expression='1e id' a.py
sed '/x/e id' a.py
sed e a.py
printf -v x y
printf '%n' x
printf -- '%n' x
test -R x
test x -a -v y
[ -f x ]
[[ -f x ]]
((x))
let x=1
x=1
x=1 y=2
x=1 ls
IFS=/ ls
LD_LIBRARY_PATH=. ls
GIT_DIR=x git status
CI=$(id) ls
CI=`id` ls
CI+=x ls
CI[0]=x ls
export X=1
unset X
readonly X=1
local x
typeset x
set -e
shopt -s extglob
source a.sh
. a.sh
eval ls
exec ls
builtin ls
command -p ls
command -v ls
type ls
enable -f x y
bind -x '"a":id'
complete -C id ls
compgen -C id
mapfile -C id -c 1 x
readarray x
getopts a 'x[$(id)]'
wait -p x
jobs -x id
pushd src
popd
cd
cd -
cd ..
cd /etc
cd ~
cd nowhere
cd -P src
cd src docs
cd "$X"
cd a.py
cd .. && ls
cd src && cat ../../x
cd src; cat ../a.py
cd src || cat /etc/passwd
function ls { id; }
ls () ( id )
if true; then ls; fi
for x in a; do ls; done
while true; do ls; done
until true; do ls; done
case x in x) ls;; esac
select x in a; do ls; done
{ ls; }
! ls
time ! ls
time { ls; }
time if true; then id; fi
time cd src
ls &
ls & pwd
ls &&
ls |
| ls
&& ls
;
ls ;; ls
(ls
ls)
ls (a)
((ls))
$(ls)
$X
"ls"
'ls'
l\s
l''s
\ls
$'ls'
$"ls"
echo $'a'
echo $"a"
~/ls
ls "$(
echo "not closed
echo ${
bash -c ls
sh -c 'ls'
bash a.sh
zsh -c ls
python3 -c 'print(1)'
node -e 1
perl -e 1
awk 'BEGIN { system("id") }'
env
env X=1 ls
env -i ls
env -u X ls
env -S ls
env CI=1
sudo ls
doas ls
su -c ls
nice
nice -20 ls
nohup
timeout 5
timeout --signal=KILL 5 ls
timeout 60 rm x
nice rm x
nohup bash -c ls
xargs ls
xargs
ls | xargs
ls | sh
ls | bash
ls | tee f
ls | python3
parallel ls
watch ls
ssh host ls
docker run x
setsid ls
stdbuf -o0 ls
strace ls
git
git push
git push --force
git commit -m x
git checkout .
git -c core.pager=id log
git -c core.fsmonitor=id status
git --exec-path=. status
git --git-dir=x status
git --work-tree=/ status
git -C .. status
git log --outp=f
git log -o f
git log --ext-diff
git log --textconv
git diff --no-index /dev/null a.py
git diff a.py /etc/passwd
git diff --output=f
git show --output f
git show HEAD:.env
git show HEAD:../x
git branch new
git branch -D main
git branch -m x
git tag v1
git tag -d v1
git remote add x y
git remote show x
git grep -Oid x
git blame --contents=/etc/passwd a.py
git ls-files -X /etc/passwd
git rev-parse --git-path x
git config --get x
git status --no-such
git stash
""".strip().split("\n"),
    "ls\\\n -la",
    "l\\\ns",
    "cat <<E\n$X\nE",
    "cat <<E\n$(id)\nE",
    'cat <<"E"x\n$(id)\nE',
    "cat <<E\nno end",
    "cat <<'E'; id\n$(id)\nE",
    "cat <<A <<B\na\nA\nb\nB",
    "cat <<E > f\nx\nE",
    "ls\r",
    "ls\x1b[2K",
    "ls \u202ecod",
    "ls\u200b",
    "l\u200ds",
    "\ufeffls",
    "ls\u2028rm x",
    "ls \u3164",
    "ls\u3000-l",
    "ls \U000e0041",
    "ls\u00ad",
    "ls \u0085 -l",
    "# note \u202e\nls",
    "echo '\u2066x'",
    "ls " + "a" * 10_000,
    ";".join(["ls"] * 201),
    "(" * 40 + "ls" + ")" * 40,
    "git status\nid",
    "echo 'a\n'; id",
)
