"""The least that pygls can be: a server that answers `initialize` and nothing else. What ours is measured beside."""

from pygls.lsp.server import LanguageServer

if __name__ == "__main__":
    LanguageServer("bare", "1").start_io()
