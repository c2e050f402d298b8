"""What memory uses is counted apart from the solver, in events and in the bank: once for each attempt."""

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from reasoningbank_langgraph import MemoryBank, Verdict, create_matts, create_reasoning_bank
from reasoningbank_langgraph.errors import StoreUnavailableError
from reasoningbank_langgraph.learn import drain
from reasoningbank_langgraph.namespaces import LEDGER, beside
from reasoningbank_langgraph.records.usage import SOLVE, total_usage
from tests.loop_fakes import USED, Billed, Switched, indexed_memory, learner, lessons, verdict

CONFIG = {"configurable": {"thread_id": "t"}}
TASK = {"task": "add two pears"}
ONE = {"calls": 1, **USED}
SOLVER = Billed(lambda messages: "\\boxed{2}")


def solve(state):
    return {"messages": [SOLVER.invoke(state["task"])]}


def times(count, counts=ONE):
    return {name: count * value for name, value in counts.items()}


def model(**options):
    return Billed(learner(**options).script)


def loop(store, **options):
    options = {"model": model(repeats=True), **options}
    return create_reasoning_bank(solve, **options).compile(checkpointer=InMemorySaver(), store=store)


def stats(store):
    return MemoryBank(store, "reasoningbank").stats()


def of_models(usage):
    return {step: counts for step, counts in usage.items() if step != "embed"}


def test_events_tell_what_each_step_used_and_the_bank_what_all_did():
    store = indexed_memory()
    graph = loop(store)
    told = {event["event"]: event["usage"] for event in graph.stream(TASK, CONFIG, stream_mode="custom")}
    asked = {"texts": 1, "characters": len("add two pears")}
    assert told == {"retrieved": asked, "judged": ONE, "extracted": ONE, "consolidated": told["consolidated"]}
    assert told["consolidated"]["texts"] == 3  # the task and two lessons
    found = stats(store)
    embedded = total_usage({"embed": asked}, {"embed": told["consolidated"]})
    assert found.usage == {"judge": ONE, "extract": ONE, SOLVE: USED, **embedded}
    assert (found.memory_tokens, found.solver_tokens, found.totals.items) == (220, 110, 2)
    assert of_models(graph.get_state(CONFIG).values["memory_usage"]) == of_models(found.usage)


async def test_async_code_counts_alike():
    first, second = indexed_memory(), indexed_memory()
    loop(first).invoke(TASK, CONFIG)
    await loop(second).ainvoke(TASK, CONFIG)
    assert stats(first).usage == stats(second).usage == (await MemoryBank(second, "reasoningbank").astats()).usage


def test_a_second_question_to_a_model_counts_too():
    store, said = indexed_memory(), iter([verdict(), "nonsense", lessons("check the units")])
    loop(store, model=Billed(lambda messages: next(said))).invoke(TASK, CONFIG)
    assert of_models(stats(store).usage) == {"judge": ONE, "extract": times(2), SOLVE: USED}


def test_what_a_judge_of_ones_own_asks_is_judging():
    def judge(attempt):
        return Verdict(status="success", rationale=SOLVER.invoke("is it right?").text)

    store = indexed_memory()
    loop(store, judge=judge).invoke(TASK, CONFIG)
    assert of_models(stats(store).usage) == {"judge": ONE, "extract": ONE, SOLVE: USED}


def test_each_attempt_counts_once_and_stays_counted_when_it_is_forgotten():
    store = indexed_memory()
    graph = loop(store)
    for number, task in enumerate(["add two pears", "add two apples"], 1):
        graph.invoke({"task": task}, CONFIG)
        assert of_models(stats(store).usage) == {
            "judge": times(number),
            "extract": times(number),
            SOLVE: times(number, USED),
        }
    before = stats(store).usage
    MemoryBank(store, "reasoningbank").forget_all()
    assert (stats(store).usage, stats(store).totals.items) == (before, 0)


def test_a_replay_and_a_fork_of_an_attempt_count_nothing_again():
    store = indexed_memory()
    graph = loop(store)
    graph.invoke(TASK, CONFIG)
    before = of_models(stats(store).usage)
    for state in list(graph.get_state_history(CONFIG)):
        if state.next and state.next[0] in ("judge", "extract", "consolidate"):
            graph.invoke(None, state.config)
    assert of_models(stats(store).usage) == before


def test_a_retry_that_distils_other_lessons_does_not_count_the_attempt_again():
    store, memory = indexed_memory(), model()
    bank = MemoryBank(store, "reasoningbank")
    loop(store, model=memory).invoke(TASK, CONFIG)
    items, episodes = bank.items(), bank.episodes()
    again = [item.model_copy(update={"content": f"{item.content} again"}) for item in items]
    before = of_models(stats(store).usage)
    bank.add(again, episodes=episodes, usage={"judge": ONE})
    assert {change.kind for change in bank.log()} == {"added", "replaced"}
    assert of_models(stats(store).usage) == before


def test_an_attempt_that_the_bank_keeps_no_episode_of_counts_with_its_lessons():
    store = indexed_memory()
    graph = loop(store, episodes=False)
    graph.invoke(TASK, CONFIG)
    (state,) = [state for state in graph.get_state_history(CONFIG) if state.next == ("consolidate",)]
    graph.invoke(None, state.config)
    assert of_models(stats(store).usage) == {"judge": ONE, "extract": ONE, SOLVE: USED}


def test_what_was_used_while_the_store_was_away_is_written_with_the_lessons():
    store = Switched()
    store.writes = StoreUnavailableError("no server")
    graph = loop(store)
    graph.invoke(TASK, CONFIG)
    store.writes = None
    assert stats(store.inner).usage == {}
    graph.invoke({"task": "add two apples"}, CONFIG)
    assert of_models(stats(store.inner).usage) == {"judge": times(2), "extract": times(2), SOLVE: times(2, USED)}


def test_counting_adds_no_write_to_an_attempt():
    store, writes = Switched(), []
    store.writes = lambda: writes.append(1)
    loop(store).invoke(TASK, CONFIG)
    assert writes == [1]


def test_an_attempt_that_waits_counts_when_it_is_learned_from():
    store = indexed_memory()
    loop(store, learn="deferred").invoke(TASK, CONFIG)
    bank = MemoryBank(store, "reasoningbank")
    assert bank.stats().usage == {}
    (waiting,) = bank.pending()
    for _ in range(2):
        bank.resolve(waiting.id, Verdict(status="success"), model=model())
    found = bank.stats()
    assert of_models(found.usage) == {"extract": ONE, SOLVE: USED}
    assert found.usage["embed"]["texts"] >= 3


def test_what_is_learned_in_the_background_counts_with_the_judge():
    store = indexed_memory()
    loop(store, learn="background").invoke(TASK, CONFIG)
    assert drain(20)
    assert of_models(stats(store).usage) == {"judge": ONE, "extract": ONE, SOLVE: USED}


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
def test_the_steps_of_several_attempts_are_counted_together(mode):
    def reply(messages):
        asked = messages[-1].text.lower()
        return (
            '{"note": "sums", "answer": "\\\\boxed{2}"}' if "check" in asked and '"note"' in asked else script(messages)
        )

    store, script = indexed_memory(), learner().script
    graph = create_matts(solve, model=Billed(reply), k=2, mode=mode).compile(store=store)
    (*_, last) = events = list(graph.stream(TASK, stream_mode="custom"))
    rollouts = [event for event in events if event["event"] == "rollout"]
    found = of_models(stats(store).usage)
    assert last["event"] == "consolidated"
    assert found == {"extract": ONE, **total_usage(*(event["steps"] for event in rollouts))}
    assert sum(event["usage"]["total_tokens"] for event in rollouts) == 110 * sum(
        found[step]["calls"] for step in ("judge", SOLVE, "check") if step in found
    )
    (judged,) = [event["usage"] for event in events if event["event"] == "judged"]
    assert judged == found["judge"]
    assert ("check" in found) == (mode == "sequential")


def test_making_lessons_anew_counts_what_the_model_used():
    store = indexed_memory()
    loop(store).invoke(TASK, CONFIG)
    bank = MemoryBank(store, "reasoningbank")
    before = bank.stats().usage
    bank.redistil(model(titles=("estimate first",)))
    assert of_models(bank.stats().usage) == {**of_models(before), "extract": times(2)}
    assert [change.usage.get("extract") for change in bank.log() if change.kind == "redistilled"] == [ONE]


def test_the_ledger_says_of_each_change_what_it_used_and_stays_complete():
    store = indexed_memory()
    loop(store).invoke(TASK, CONFIG)
    bank = MemoryBank(store, "reasoningbank")
    bank.set_status([bank.items()[0].id], "quarantined")
    added, quarantined = bank.log()
    assert of_models(added.usage) == {"judge": ONE, "extract": ONE, SOLVE: USED}
    assert quarantined.usage.keys() <= {"embed"}
    assert bank.verify_log().ok
    assert total_usage(added.usage, quarantined.usage) == bank.stats().usage


def test_rows_that_older_versions_wrote_or_will_read_need_no_usage():
    store = indexed_memory()
    loop(store).invoke(TASK, CONFIG)
    bank, place = MemoryBank(store, "reasoningbank"), beside(("reasoningbank",), LEDGER)
    (row,) = store.search(place)
    store.put(place, row.key, {name: value for name, value in row.value.items() if name != "usage"}, index=False)
    assert (bank.verify_log().ok, bank.log()[0].usage, bank.stats().usage) == (True, {}, {})
    bank.set_status([bank.items()[0].id], "quarantined")
    assert bank.verify_log().ok


def test_what_a_write_that_failed_would_have_told_is_told_by_the_next_one():
    store = Switched()
    bank = MemoryBank(store, "reasoningbank")
    loop(store).invoke(TASK, CONFIG)
    bank.tally.count({"judge": ONE})
    store.writes = StoreUnavailableError("no server")
    item = bank.items()[0].id
    with pytest.raises(StoreUnavailableError):
        bank.set_status([item], "quarantined")
    store.writes = None
    bank.set_status([item], "quarantined")
    assert of_models(bank.stats().usage)["judge"] == times(2)


def test_a_store_that_does_not_tell_its_embedder_has_no_embedding_counted():
    store = Switched()
    told = list(loop(store).stream(TASK, CONFIG, stream_mode="custom"))
    assert [told[0]["usage"], told[-1]["usage"]] == [{}, {}]
    assert "embed" not in stats(store).usage
