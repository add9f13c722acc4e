"""GGUF files of a few hundred kB, made here: a real llama architecture and tokenizer, and weights of our own.

llama.cpp loads and runs them like any other model. One writes noise, in words of its own vocabulary; another always
writes the same text, whatever it is asked.
Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

CHATML: Final = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template that has the role of a system."""

WITHOUT_SYSTEM: Final = (
    "{% for message in messages %}{% if message.role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>model\n{% endif %}"
)
"""A template that refuses the role of a system, as Gemma's does."""

WORDS: Final = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "river",
    "stone",
    "window",
    "garden",
    "number",
    "letter",
    "yellow",
    "silver",
    "morning",
    "copper",
    "bridge",
    "paper",
    "engine",
    "ladder",
    "pocket",
    "rocket",
    "silent",
    "simple",
    "single",
    "summer",
    "system",
    "tender",
    "thunder",
    "ticket",
    "timber",
    "travel",
    "never",
    "always",
    "touch",
    "remember",
    "file",
    "path",
    "error",
    "test",
    "run",
    "build",
    "make",
    "open",
    "close",
    "read",
    "write",
]

UNKNOWN, BEGIN = 0, 1
_ALIGNMENT: Final = 32
_NORMAL, _UNKNOWN, _CONTROL, _BYTE = 1, 2, 3, 6

CONTEXT_TOKENS: Final = 2_048
_WIDTH, _LAYERS, _HEADS = 64, 2, 4


def write_tiny_gguf(
    path: Path,
    *,
    template: str | None = CHATML,
    name: str = "Tiny Noise",
    context_tokens: int = CONTEXT_TOKENS,
    seed: int = 7,
    width: int = _WIDTH,
    layers: int = _LAYERS,
    end_weight: float = 0,
    words: Iterable[str] = (),
    more: Mapping[str, Any] | None = None,
) -> Path:
    """Write the file and return its path. `template=None` leaves the chat template out; `more` is other metadata.

    `words` that are tokens of their own make a long text short.
    With an `end_weight` of 6 its answers have some dozen words, with 0 they hardly end.
    """
    tokens, scores, kinds = _vocabulary((*WORDS, *words))
    tensors = _weights(len(tokens), seed, width, layers, end_weight)
    head = _metadata(name, tokens, scores, kinds, context_tokens=context_tokens, width=width, layers=layers)
    if template is not None:
        head["tokenizer.chat_template"] = template
    path.write_bytes(gguf_bytes({**head, **(more or {})}, tensors))
    return path


def write_parrot_gguf(
    path: Path,
    text: str,
    *,
    endless: bool = False,
    context_tokens: int = 32_768,
    words: Iterable[str] = (),
) -> Path:
    """Write a model that answers everything with this text, and return its path. No two lines may be the same.
    An `endless` one begins again after its last line.

    Each line is a token. Nothing but the last token decides on the next one: the layer adds nothing to its embedding,
    which is an axis of its own for each line.
    """
    lines = [line.replace(" ", "▁") for line in text.splitlines(keepends=True)]
    tokens, scores, kinds = _vocabulary((*WORDS, *words))
    first = len(tokens)
    if len({*tokens, *lines}) < first + len(lines):
        raise ValueError("Two lines are the same, or one is a word of the vocabulary.")
    tokens += lines
    scores += [-1e6] * len(lines)
    kinds += [_NORMAL] * len(lines)
    width = -(-(len(lines) + 1) // _WIDTH) * _WIDTH
    embedding = np.zeros((len(tokens), width), np.float32)
    embedding[:, 0] = 1
    output = np.zeros_like(embedding)
    for at in range(len(lines)):
        embedding[first + at] = np.eye(width, dtype=np.float32)[at + 1]
        output[first + at, at] = 10
    output[first if endless else tokens.index("<|im_end|>"), len(lines)] = 10
    tensors = _weights(len(tokens), 1, width, 1, 0)
    tensors |= {
        name: np.zeros_like(tensor) for name, tensor in tensors.items() if "attn_output" in name or "ffn_down" in name
    }
    tensors |= {"token_embd.weight": embedding, "output.weight": output}
    head = _metadata("Tiny Parrot", tokens, scores, kinds, context_tokens=context_tokens, width=width, layers=1)
    path.write_bytes(gguf_bytes({**head, "tokenizer.chat_template": CHATML}, tensors))
    return path


def _metadata(
    name: str,
    tokens: list[str],
    scores: list[float],
    kinds: list[int],
    *,
    context_tokens: int,
    width: int,
    layers: int,
) -> dict[str, Any]:
    return {
        "general.architecture": "llama",
        "general.name": name,
        "general.file_type": np.uint32(0),
        "llama.context_length": np.uint32(context_tokens),
        "llama.embedding_length": np.uint32(width),
        "llama.block_count": np.uint32(layers),
        "llama.feed_forward_length": np.uint32(2 * width),
        "llama.attention.head_count": np.uint32(_HEADS),
        "llama.attention.head_count_kv": np.uint32(_HEADS),
        "llama.attention.layer_norm_rms_epsilon": np.float32(1e-5),
        "llama.rope.dimension_count": np.uint32(width // _HEADS),
        "llama.vocab_size": np.uint32(len(tokens)),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": np.array(scores, np.float32),
        "tokenizer.ggml.token_type": np.array(kinds, np.int32),
        "tokenizer.ggml.bos_token_id": np.uint32(BEGIN),
        "tokenizer.ggml.eos_token_id": np.uint32(tokens.index("<|im_end|>")),
        "tokenizer.ggml.unknown_token_id": np.uint32(UNKNOWN),
        "tokenizer.ggml.add_bos_token": True,
    }


def _vocabulary(words: Iterable[str]) -> tuple[list[str], list[float], list[int]]:
    tokens = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
    kinds = [_UNKNOWN, _CONTROL, _CONTROL, _CONTROL, _CONTROL]
    tokens += [f"<0x{byte:02X}>" for byte in range(256)]
    kinds += [_BYTE] * 256
    pieces = [
        "▁",
        "\n",
        *"abcdefghijklmnopqrstuvwxyz.,:;!?/_-<>'\"()0123456789",
        *dict.fromkeys(f"▁{word}" for word in words),
    ]
    # SentencePiece joins two pieces into one that exists: the steps from letters to a word must exist too.
    steps = {f"▁{word}"[:end] for word in words for end in range(2, len(word) + 1)}
    tokens += [*pieces, *sorted(steps - set(pieces))]
    kinds += [_NORMAL] * (len(tokens) - len(kinds))
    scores = [0.0 if kind != _NORMAL else float(len(token)) for token, kind in zip(tokens, kinds, strict=True)]
    return tokens, scores, kinds


def _weights(vocabulary: int, seed: int, width: int, layers: int, end_weight: float) -> dict[str, np.ndarray[Any, Any]]:
    """Tensors by name, their last axis the fastest. The words come out far more often than bytes and steps of words."""
    chance = np.random.default_rng(seed)

    def drawn(*shape: int, scale: float = 0.2) -> np.ndarray[Any, Any]:
        return chance.normal(0, scale, shape).astype(np.float32)

    output = drawn(vocabulary, width, scale=0.3)
    output[: 5 + 256] = 0
    embedding = drawn(vocabulary, width)
    embedding[:, 0] = 1
    output[4] = np.eye(width, dtype=np.float32)[0] * end_weight
    tensors = {
        "token_embd.weight": embedding,
        "output_norm.weight": np.ones(width, np.float32),
        "output.weight": output,
    }
    for layer in range(layers):
        tensors |= {
            f"blk.{layer}.attn_norm.weight": np.ones(width, np.float32),
            f"blk.{layer}.attn_q.weight": drawn(width, width),
            f"blk.{layer}.attn_k.weight": drawn(width, width),
            f"blk.{layer}.attn_v.weight": drawn(width, width),
            f"blk.{layer}.attn_output.weight": drawn(width, width),
            f"blk.{layer}.ffn_norm.weight": np.ones(width, np.float32),
            f"blk.{layer}.ffn_gate.weight": drawn(2 * width, width),
            f"blk.{layer}.ffn_up.weight": drawn(2 * width, width),
            f"blk.{layer}.ffn_down.weight": drawn(width, 2 * width),
        }
    return tensors


def gguf_bytes(metadata: Mapping[str, Any], tensors: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """A whole file, version 3, with 32-bit floats."""
    head = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata)))
    for key, value in metadata.items():
        head += _text(key) + _value(value)
    offset = 0
    blobs: list[bytes] = []
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        head += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        blob = tensor.tobytes()
        blob += bytes(-len(blob) % _ALIGNMENT)
        blobs.append(blob)
        offset += len(blob)
    head += bytes(-len(head) % _ALIGNMENT)
    return bytes(head) + b"".join(blobs)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


_SCALARS: Final = {"uint32": (4, "<I"), "int32": (5, "<i"), "float32": (6, "<f")}


def _value(value: Any) -> bytes:
    """A value with its type in front."""
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, np.ndarray):
        kind, form = _SCALARS[str(value.dtype)]
        return struct.pack("<IIQ", 9, kind, len(value)) + value.astype(form).tobytes()
    if isinstance(value, Sequence):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(_text(str(item)) for item in value)
    kind, form = _SCALARS[str(value.dtype)]
    return struct.pack("<I", kind) + struct.pack(form, value)
