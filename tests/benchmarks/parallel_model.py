"""What it costs a real model on this machine to work on five requests at once: wall time and tokens a second.

    python -m tests.benchmarks.parallel_model [--model FILE.gguf] [--threads N]

Each round asks for one reply and for five at once, all of the same length, after a round that warms up. What counts
is the ratio: 5 where requests only stand in a queue, 1 where four of them cost nothing.
"""

import argparse
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from langchain_openai.chat_models.base import BaseChatOpenAI

from reasoningbank_langgraph.local import start_local_model

ROUNDS, ATTEMPTS, TOKENS = 5, 5, 80
TASK = "Amara has 12 shells and buys 7 more, then gives away 5. How many shells has Amara now? Think step by step."


def seconds(model: BaseChatOpenAI, attempts: int) -> float:
    """Ask for so many replies at once and return how long they took."""
    began = time.perf_counter()
    with ThreadPoolExecutor(attempts) as pool:
        replies = list(pool.map(lambda seed: model.bind(seed=seed).invoke(TASK), range(attempts)))
    took = time.perf_counter() - began
    assert [reply.usage_metadata["output_tokens"] for reply in replies] == [TOKENS] * attempts
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a GGUF file; default the packaged model")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    with start_local_model(options.model, threads=options.threads) as server:
        body = {"ignore_eos": True}  # replies of the same length
        model = server.chat_model(temperature=0.7, max_tokens=TOKENS, extra_body=body)
        seconds(model, ATTEMPTS)
        rounds = [(seconds(model, 1), seconds(model, ATTEMPTS)) for _ in range(ROUNDS)]
        alone, together = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(f"{server.model_name}, {server.slots} slots, threads {options.threads or 'by default'}")
    ratio = statistics.median(five / one for one, five in rounds)
    print(f"k = 1: {alone:.2f} s, {TOKENS / alone:.0f} tokens/s; k = {ATTEMPTS}: {together:.2f} s, ", end="")
    print(f"{ATTEMPTS * TOKENS / together:.0f} tokens/s; ratio {ratio:.2f} of {ATTEMPTS} one after another")


if __name__ == "__main__":
    main()
