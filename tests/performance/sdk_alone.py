"""The google-genai SDK alone, on the same stream: prints how long each delta was under way, in microseconds, as a line
of JSON per stream.

Arguments: the address of the API. Each line that comes in asks for a stream.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from google import genai
from google.genai import types


async def main(base_url: str) -> None:
    """Stream as often as asked."""
    client = genai.Client(api_key="bench", http_options=types.HttpOptions(base_url=base_url))
    while await asyncio.to_thread(sys.stdin.readline):
        taken: list[float] = []
        async for chunk in await client.aio.models.generate_content_stream(model="gemini-2.5-flash", contents="Hello"):
            now = time.perf_counter_ns()
            taken.append((now - int((chunk.text or "").split(" ", 1)[0])) / 1000)
        print(json.dumps(taken), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
