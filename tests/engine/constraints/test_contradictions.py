"""Which earlier rule a new one takes the place of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_companion.engine.constraints.contradiction import contradicted
from gemini_companion.engine.history.constraint import Constraint


def rule(text: str, constraint_id: str = "c") -> Constraint:
    return Constraint(
        constraint_id=constraint_id, text=text, scope="session", state="inForce", created_at=0, source="prompt"
    )


CONTRADICT = [
    ("Never use tabs.", "Always use tabs."),
    ("Never touch legacy/.", "You may now edit legacy/."),
    ("Do not modify the tests.", "You can now change the tests."),
    ("Always use spaces.", "From now on use tabs instead of spaces."),
    ("Always answer in English.", "Always answer in German."),
    ("Use 4 spaces for indentation.", "Use 2 spaces for indentation."),
    ("Never push to main.", "It's ok to push to main now."),
    ("Always run the tests.", "You don't need to run the tests any more."),
    ("Never delete the fixtures.", "From now on you may delete the fixtures."),
    ("Answer in English from now on.", "From now on, answer in French."),
    ("Ändere nie die Tests.", "Du darfst jetzt die Tests ändern."),
    ("Verwende immer Tabs.", "Verwende nie Tabs."),
    ("Antworte immer auf Deutsch.", "Antworte ab jetzt auf Englisch."),
    ("Verwende immer Leerzeichen.", "Ab jetzt Tabs statt Leerzeichen."),
    ("N'utilise jamais var.", "Tu peux maintenant utiliser var."),
    ("Ne modifie pas les tests.", "Tu peux modifier les tests."),
    ("Utilise toujours des espaces.", "Désormais, utilise des tabulations au lieu d'espaces."),
    ("Réponds toujours en anglais.", "Réponds toujours en français."),
    ("Nunca uses var.", "Ahora puedes usar var."),
    ("No modifiques los tests.", "Ya puedes modificar los tests."),
    ("Usa siempre espacios.", "A partir de ahora usa tabuladores en lugar de espacios."),
    ("Responde siempre en inglés.", "Responde siempre en español."),
    ("テストを変更しないでください。", "これからはテストを変更してもいいです。"),
    ("必ず日本語で答えてください。", "今後は英語で答えてください。"),
    ("var の使用は禁止です。", "var を使用してもいいです。"),
    ("必ずスペースを使ってください。", "今後はスペースではなくタブを使ってください。"),
    ("不要修改 legacy 目录。", "现在可以修改 legacy 目录了。"),
    ("必须使用制表符。", "不要使用制表符。"),
    ("请始终用中文回答。", "以后请用英文回答。"),
    ("始终使用空格。", "以后使用制表符而不是空格。"),
]

STAND_TOGETHER = [
    ("Never use tabs.", "Never use var."),
    ("Never push to main.", "Always push to a branch."),
    ("Always run the tests.", "Never skip the linter."),
    ("Never touch legacy/.", "You may edit src/."),
    ("Never delete legacy/.", "You may now edit legacy/."),
    ("Never commit to main.", "Always commit with a message."),
    ("Always use type hints.", "Never use any."),
    ("Never delete files.", "Delete files only if I ask for it."),
    ("Always answer in English.", "Never use emojis."),
    ("Use 4 spaces for indentation.", "Use 2 workers for the tests."),
    ("Do not edit generated files.", "Always edit the README."),
    ("Never log passwords.", "Always log errors."),
    ("Never add new dependencies.", "Always pin dependencies."),
    ("Always write tests for new code.", "Never write tests for generated code."),
    ("Do not run migrations in production.", "Always run migrations in staging."),
    ("Never force-push.", "Always force-push with lease on feature branches."),
    ("Never use print for logging.", "Always use logging."),
    ("Ändere nie die Tests.", "Führe immer die Tests aus."),
    ("Verwende nie var.", "Verwende immer const."),
    ("N'utilise jamais var.", "Utilise toujours const."),
    ("Nunca uses var.", "Usa siempre const."),
    ("テストを変更しないでください。", "必ずテストを実行してください。"),
    ("不要修改 legacy 目录。", "必须先运行测试。"),
    ("不要使用 var。", "必须使用 const。"),
    ("Never use jQuery.", "Use React instead of Vue."),
    ("Answer briefly.", "Never answer in rhymes."),
    ("Always ask before deleting.", "Never delete the fixtures."),
]


@pytest.mark.parametrize(("old", "new"), CONTRADICT)
def test_a_rule_that_contradicts_an_earlier_one_takes_its_place(old: str, new: str):
    bystander = rule("Keep every function under forty lines.", "other")
    found = contradicted(new, [bystander, rule(old), bystander])
    assert found is not None
    assert found.text == old


@pytest.mark.parametrize(("old", "new"), STAND_TOGETHER)
def test_rules_that_do_not_contradict_each_other_stand_together(old: str, new: str):
    assert contradicted(new, [rule(old)]) is None


def test_of_several_the_newest_is_replaced():
    found = contradicted("Never use tabs.", [rule("Always use tabs.", "a"), rule("Use tabs!", "b")])
    assert found is not None
    assert found.constraint_id == "b"


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_makes_it_raise_and_none_contradicts_itself(old: str, new: str):
    contradicted(new, [rule(old)])
    assert contradicted(new, [rule(new)]) is None
