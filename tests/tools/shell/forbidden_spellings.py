"""Spellings of commands that rules forbid: for each rule, the lines that are refused, and those that are asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REFUSED: Final[Mapping[str, tuple[str, ...]]] = {
    "npm publish": (
        "npm publish", "npm --silent publish", "npm -s publish", "npm --loglevel=error publish", "npm --loglevel error publish", "npm -w a publish", "npm --workspace a publish",
        "npm --workspace=a --dry-run publish", "npm pub", "npm publ --dry-run", "npm -- publish", "npm --unknown publish", "/usr/bin/npm publish", "npm 'publish'", 'npm pub"lish"', "npm pub\\lish",
        "NPM publish", "npm.cmd publish", "npx npm publish", "sudo npm publish", "sudo -u root npm -s publish", "env X=1 npm publish", "CI=1 npm publish", "timeout 5 npm -s publish", "xargs npm publish",
        "sh -c 'npm -s publish'", "bash -c \"sh -c 'npm -s publish'\"", "eval npm -s publish", "ls && npm -w a publish", "(npm -s publish)", "npm -s publish &", "echo $(npm -s publish)",
    ),
    "npm unpublish": ("npm unpub", "npm -s unpublish x", "npm --registry http://r unpublish x"),
    "npm uninstall": ("npm rm x", "npm un x", "npm remove x", "npm -g r x", "npm unlink x"),
    "git push": (
        "git -C . push", "git -c a.b=c push", "git --no-pager push", "git --git-dir=.git push", "git --git-dir .git push", "git -P -c x.y=z -C sub push origin", "git --literal-pathspecs push",
        "git --unknown push", "/usr/bin/git push", "git-push origin", "/usr/lib/git-core/git-push", "git send-pack h", "git pp", "git -p pp", "git chain", "git shell-alias", "sudo git -C . push", "nice -n 5 git -C . push",
    ),
    "git push --force": ("git push -f", "git push origin --force", "git push origin -uf", "git push --forc", "git -C . push origin main --force", "git push origin +main"),
    "git reset --hard": ("git reset HEAD~1 --hard", "git -C . reset --har"),
    "make deploy": (
        "make -s deploy", "make -j4 deploy", "make -j 4 deploy", "make test deploy", "make deploy test", "make -C sub deploy", "make -sC sub deploy", "make --directory sub deploy", "make -f x.mk deploy",
        "make ./deploy", "make -- deploy", "make X=1 deploy", "make --unknown deploy", "gmake deploy", "make -k test -B deploy",
    ),
    "pip uninstall": (
        "pip -q uninstall x", "pip --proxy http://p uninstall x", "pip3 uninstall x", "pip3.11 -v uninstall x", "python3 -m pip uninstall x", "python3 -m pip -q uninstall x", "python3 -mpip uninstall x",
        "python3 -Im pip uninstall x", "/usr/bin/pip uninstall x", "uv pip uninstall x", "pip --no-input uninstall -y x",
    ),
    "cargo publish": ("cargo -q publish", "cargo +nightly publish", "cargo --config a=b publish", "cargo --color never publish", "cargo -Z x publish", "cargo-publish", "cargo --offline publish"),
    "docker system prune": ("docker --context x system prune", "docker -D system prune -f", "docker system --unknown prune", "docker --log-level=debug system prune -af", "docker -H tcp://h system prune"),
    "docker rm": ("docker container rm x", "docker container remove x", "docker --context x rm y"),
    "docker compose down": ("docker-compose down", "docker compose -f x.yml -p y down", "docker-compose -f x.yml down -v", "docker --context x compose down"),
    "kubectl delete": ("kubectl -n prod delete pod x", "kubectl --namespace=prod delete pod x", "kubectl --context prod delete pod x", "kubectl delete -f x.yml", "kubectl -s https://h delete ns x"),
    "terraform destroy": ("terraform -chdir=x destroy", "terraform apply -destroy", "tofu destroy"),
    "helm uninstall": ("helm del x", "helm -n prod delete x", "helm --kube-context c un x"),
    "gh repo delete": ("gh -R a/b repo delete", "gh repo --repo a/b delete"),
    "systemctl stop": ("systemctl --user stop x", "systemctl -H host stop x", "sudo systemctl --now stop x"),
    "apt remove": ("apt -y remove x", "apt -o A=b remove x", "sudo apt-get -y remove x; apt -q remove x"),
    "brew uninstall": ("brew rm x", "brew -q remove x"),
    "svn commit": ("svn ci -m x", "svn --username me commit"),
    "yarn publish": ("yarn --silent publish", "yarn npm publish", "yarn --cwd sub publish"),
    "rm -rf": ("rm -fr x", "rm -r -f x", "rm x -rf", "rm --recursive --force x", "rm -Rf x", "rm --recurs -f x", "busybox rm -rf x"),
    "tool push": ("tool -x push", "tool --quiet push", "tool --a=b push", "tool-push"),
}  # fmt: skip

ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "npm publish": ("npm --unknown value publish", "npm exec -- npm publish", "npm exec publish", "npm run publish", "tool npm publish", "tool 'npm publish'", "npm pu"),
    "git push": ("git -c alias.x=push x", "git -C elsewhere unknown", "git submodule foreach git push", "git subtree push --prefix=a o", "git rebase -x 'git push' main", "git lfs push origin"),
    "make deploy": ("make .DEFAULT_GOAL=deploy", "tool make deploy", "tool 'make deploy'"),
    "cargo publish": ("cargo p", "cargo alias-of-a-repository", "cargo watch -x publish"),
    "gh repo delete": ("gh rd",),
    "kubectl delete pod": ("kubectl delete -n x pods y", "kubectl delete po y"),
    "tool push": ("tool --opt value push", "tool log push", "tool pu", "tool -n x --opt y push"),
    "tool delete": ("tool rm", "tool del x", "tool remove"),
    "tool --force": ("tool -f", "tool -xf", "tool --force-all", "tool --f"),
    "yarn publish": ("yarn workspace a publish", "yarn workspaces foreach publish"),
    "rm a": ("echo 'rm a' | sh", "sh <<E\nrm a\nE", "python3 -c \"os.system('rm a')\""),
}  # fmt: skip

OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    "git push": ("git log --grep push", "git commit -m push", "git commit -m 'git push it'", "git stash push", "git checkout push", "git add push", "grep 'git push' a.py", "echo git push"),
    "npm publish": ("npm install publish", "npm test publish", "npm ls publish", "echo npm publish"),
    "npm init": ("npm i",),
    "make deploy": ("make -C deploy test", "make -Cdeploy test", "make test", "make deploys"),
    "pip uninstall": ("pip install uninstall", "pip list"),
    "cargo publish": ("cargo build", "cargo test publish", "cargo -q check"),
    "git reset --hard": ("git reset --soft HEAD",),
    "rm": ("git rm a.py", "npm rm x", "echo rm x", "grep rm a.py"),
    "tool push": ("tool list", "tool --quiet pull"),
}  # fmt: skip
"""Lines that only have the words of a rule, and mean something else."""
