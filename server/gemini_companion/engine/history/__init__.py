"""The log, the view of it that the model gets, and the contents both are made of."""

from gemini_companion.engine.history.content import Content as Content
from gemini_companion.engine.history.content import Part as Part
from gemini_companion.engine.history.content import Role as Role
