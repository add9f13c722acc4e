"""Lines that run unasked by the usual rules."""

from __future__ import annotations

from typing import Final

ALLOWED: Final = (
    *r"""
ls
ls -la
ls -la --color=never src docs
ls -R src
pwd
cat a.py b.py
cat -n a.py
cat -- -strange-name
cat < a.py
head -5 a.py
head -n 5 a.py
head -n5 a.py
tail -c 100 a.py
wc -l a.py b.py
grep -n needle a.py
grep -e needle -e other a.py
grep -A3 -B3 needle a.py
grep -f words.txt a.py
grep /etc/passwd a.py
sort -k 2 -t , a.csv
sort -rn a.csv | uniq -c | sort -rn | head -20
uniq -c a.csv
cut -d : -f 1 a.csv
tr a-z A-Z < a.py
diff -u a.py b.py
cmp a.py b.py
basename /etc/passwd .txt
dirname /a/b
stat -c %s a.py
file a.py
du -sh src
sha256sum a.py
find . -name '*.py'
find src -type f -name "*.py" -maxdepth 3 -print
find . \( -name a -o -name b \) -not -path './x/*'
sed -n '1,20p' a.py
sed -n 5p a.py
sed 's/a/b/g' a.py
sed -e 's/a/b/' -e 3d a.py
test -f a.py && echo yes || echo no
test a.py -nt b.py
test -n "some text"
test 1 -lt 2
printf '%s\n' a b
printf '%5d%%\n' 3
echo "a 'quoted' word"
echo 'a "quoted" word'
echo "a \$(not run) word"
echo a\ b
echo '$HOME'
echo '*'
echo "*"
echo '{a,b}'
echo "~"
echo a~b
echo a#b
echo a # a note
echo é ü 漢字
seq 1 10
true && false || true
: && ls
which python3
uname -a
git status --short
git status -sb src
git --no-pager log --oneline -5
git log -n 3 --stat src/a.py
git log --author=me --since=yesterday
git diff
git diff --cached --stat
git diff HEAD~1 -- src
git show HEAD
git show HEAD:src/a.py
git blame -L 1,5 a.py
git branch -a
git branch --show-current
git rev-parse --abbrev-ref HEAD
git ls-files
git remote -v
npm test
npm test -- --verbose
CI=1 npm test
CI=true NO_COLOR=1 npm test
timeout -k 5 60 npm test
timeout 60 nice -n 10 npm test
nohup ls
time ls
time -p npm test
command ls
env CI=1 ls
ls 2>&1
ls 2>/dev/null
ls > /dev/null
ls &>/dev/null
ls |& cat
(ls)
(cd src && ls); ls
(ls; pwd) | cat
cd src; ls
cd src || ls
cd src/ && cat a.py
cd docs && cd ../src && git status
""".strip().split("\n"),
    "ls\npwd",
    "ls &&\n pwd",
    "ls |\n cat",
    "\n\nls\n\n",
    "# a note\nls",
    "echo 'two\nlines'",
    "cat <<E\nplain\nE",
    "cat <<'E' | sort\nb\na\nE",
    "cat <<-'E'\n\t$(id)\n\tE\n",
    "cat <<E && ls\nplain\nE\n",
    "",
)
