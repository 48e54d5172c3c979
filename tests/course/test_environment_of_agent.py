"""The simulated operations environment: every tool's answers, errors as results, one clock, and nothing given away."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.agent.environment import LAST_MINUTE, Environment
from ctxcourse.agent.loglines import LEVELS, log_lines
from ctxcourse.agent.signals import UNITS, Signals
from ctxcourse.agent.world import load_world
from ctxcourse.errors import CourseError
from ctxcourse.messages import normalise
from ctxcourse.tools import load_tools

WORLD = load_world()
SERVICES = [service.name for service in WORLD.services]
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in load_tools()}
DESK, DESK_NUMBER = "Rosa Almeida", "4417"
TICKET = {"title": "rows locked", "service": "ledger-db", "severity": "high", "employee_number": 4417}

# Two typical calls a tool, at a minute of the incident, with the least and the most tokens of their results.
TYPICAL = [
    (1, "get_current_time", {"timezone": "Europe/Lisbon"}, 20, 40),
    (1, "get_current_time", {"timezone": "UTC"}, 20, 40),
    (3, "list_services", {}, 180, 260),
    (3, "list_services", {"tier": 1}, 80, 140),
    (4, "get_service_status", {"service": "payments-api"}, 60, 90),
    (20, "get_service_status", {"service": "ledger-db", "region": "eu-west"}, 30, 60),
    (20, "query_metrics", {"service": "payments-api", "metric": "latency_p99"}, 160, 240),
    (20, "query_metrics", {"service": "ledger-db", "metric": "cpu", "minutes": 30, "step_minutes": 5}, 90, 150),
    (20, "get_deployments", {"service": "payments-api"}, 80, 150),
    (65, "get_deployments", {"service": "payments-api"}, 160, 260),
    (20, "search_tickets", {"query": "connection timeouts", "status": "any"}, 40, 120),
    (24, "search_tickets", {"query": "certificate renewal"}, 30, 90),
    (20, "get_ticket", {"ticket": "INC-2187"}, 230, 330),
    (30, "get_ticket", {"ticket": "INC-2381", "include_comments": False}, 100, 180),
    (20, "read_runbook", {"service": "payments-api", "symptom": "connection timeouts"}, 160, 240),
    (20, "read_runbook", {"service": "edge-gateway", "symptom": "certificate"}, 80, 150),
    (20, "get_employee", {"name": "Marta Quill"}, 15, 40),
    (20, "get_employee", {"employee_number": 2086}, 15, 40),
    (33, "search_logs", {"service": "payments-api", "query": "timeout", "level": "error"}, 250, 450),
    (33, "search_logs", {"service": "ledger-db", "query": '"lock wait"', "limit": 4}, 150, 280),
    (33, "page_on_call", {"team": "storage", "message": "Lock waits.", "urgency": "high"}, 25, 60),
    (33, "page_on_call", {"team": "payments", "message": "x", "urgency": "low", "ticket": "INC-2381"}, 25, 60),
    (88, "file_ticket", TICKET, 15, 40),
    (88, "file_ticket", {**TICKET, "shard": "pay-shard-2", "description": "Waits since 09:34."}, 15, 40),
]


def environment(minute=0, seed=1):
    made = Environment(seed)
    made.at(minute)
    return made


def call(name, minute=30, /, **arguments):
    return environment(minute).call(name, arguments)


# Every tool


def test_the_tools_are_the_twelve_as_they_are_and_each_has_an_answer():
    assert environment().tools() == load_tools()
    assert {name for _, name, *_ in TYPICAL} == set(SCHEMAS) == set(environment()._answers)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_tool_takes_what_its_schema_says(name):
    parameters = inspect.signature(environment()._answers[name]).parameters
    assert set(parameters) == set(SCHEMAS[name]["properties"])
    needed = {key for key, parameter in parameters.items() if parameter.default is inspect.Parameter.empty}
    assert needed == set(SCHEMAS[name]["required"])


@pytest.mark.parametrize(("minute", "name", "arguments", "least", "most"), TYPICAL)
def test_typical_calls_are_answered(minute, name, arguments, least, most):
    assert not environment(minute).call(name, arguments).startswith("Error")


@pytest.mark.model
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("minute", "name", "arguments", "least", "most"), TYPICAL)
def test_typical_results_have_the_size_of_real_ones(minute, name, arguments, least, most, seed):
    assert least <= len(load_tokenizer().encode(environment(minute, seed).call(name, arguments))) <= most


def test_the_time_goes_with_the_clock_and_the_zone():
    assert call("get_current_time", 90, timezone="Asia/Kolkata") == (
        "Thursday, 2026-05-14 16:40 in Asia/Kolkata (UTC+05:30)"
    )
    assert call("get_current_time", 0, timezone="America/New_York").endswith("05:40 in America/New_York (UTC-04:00)")


def test_log_lines_come_newest_first_with_time_level_and_host():
    lines = call("search_logs", 60, service="card-vault", query="token", minutes=120, limit=50).split("\n")
    assert lines[0].endswith("in the 120 minutes before 10:40 UTC, newest first:")
    found = [re.fullmatch(r"(\d\d:\d\d:\d\d) info vault-[wc]1 token \S+ read in \d+ ms", line) for line in lines[1:]]
    times = [match[1] for match in found]
    assert times == sorted(times, reverse=True)
    assert "08:40:00" <= times[-1] < times[0] < "10:40:00"
    assert lines[0].startswith(f"{len(times)} lines of card-vault")


def lines_with(query, **arguments):
    answer = call("search_logs", 40, service="payments-api", query=query, **arguments)
    return re.findall(r"^\d\d:.*", answer, re.MULTILINE)


def test_all_words_must_occur_a_quoted_phrase_as_it_stands_and_case_is_ignored():
    both, phrase = lines_with("ledger POOL"), lines_with('"pool exhausted"')
    assert both
    assert all("ledger" in line and "pool" in line for line in both)
    assert phrase
    assert set(phrase) <= set(lines_with("exhausted pool"))
    assert lines_with('"exhausted pool"') == []


def test_level_period_and_limit_narrow_a_search():
    everything = lines_with(":", limit=50)
    assert len(lines_with(":")) == min(20, len(everything))
    assert lines_with(":", limit=3) == everything[:3]
    assert set(lines_with(":", minutes=10, limit=50)) < set(everything)
    kept = [line for line in everything if line.split()[1] in ("warning", "error")]
    assert lines_with(":", level="warning", limit=50) == kept != everything


def test_a_search_without_a_match_says_so_and_is_no_error():
    answer = call("search_logs", service="mail-gateway", query="pool exhausted", level="info", minutes=15)
    assert re.match(r"None of the \d+ lines that mail-gateway logged in the 15 minutes before 10:10 UTC", answer)


@pytest.mark.parametrize("metric", UNITS)
@pytest.mark.parametrize("service", SERVICES)
def test_a_series_ends_now_and_names_its_own_extremes(service, metric):
    lines = call("query_metrics", 25, service=service, metric=metric, minutes=40, step_minutes=10).split("\n")
    values = [pair.split() for pair in lines[1].split(", ")]
    assert [time for time, _ in values] == ["09:25", "09:35", "09:45", "09:55", "10:05"]
    shown = sorted((value for _, value in values), key=float)
    assert lines[2] == f"least {shown[0]}, greatest {shown[-1]}, latest {values[-1][1]}"
    assert lines[3].startswith("the day before: least ")


def test_a_step_that_is_left_out_gives_about_a_dozen_values_and_none_too_many():
    for minutes in (1, 5, 30, 90, 1_440, 10_080):
        lines = call("query_metrics", service="auth-proxy", metric="cpu", minutes=minutes).split("\n")
        assert min(minutes + 1, 10) <= len(lines[1].split(", ")) <= 16


def test_the_status_follows_the_incident():
    states = [call("get_service_status", minute, service="payments-api") for minute in (0, 30, 90)]
    assert [state.split("\n")[0].split(": ")[1] for state in states] == ["degraded", "degraded", "healthy"]
    assert "7 of 8 instances" in states[1]
    assert "8 of 8 instances" in states[2]
    one = call("get_service_status", service="payments-api", region="EU-Central")
    assert [line.split(":")[0] for line in one.split("\n")[1:]] == ["eu-central"]


def test_deployments_are_rolled_back_when_the_time_has_come():
    def listed(minute, **more):
        return call("get_deployments", minute, service="payments-api", **more).split("\n")[1:]

    assert [line.split(",")[0] for line in listed(20)] == ["5.18.0", "5.17.3"]
    assert "Piotr Zielinski, succeeded" in listed(20)[0]
    assert [line.split(",")[0] for line in listed(70)] == ["5.17.3", "5.18.1", "5.18.0", "5.17.3"]
    assert all("rolled back at 10:41" in line for line in listed(70)[1:3])
    assert [line.split(",")[0] for line in listed(70, include_rolled_back=False)] == ["5.17.3", "5.17.3"]
    assert [line.split(",")[0] for line in listed(20, hours=1)] == ["5.18.0"]
    assert call("get_deployments", service="mail-gateway").startswith("No deployment of mail-gateway in the last 24 h")


def test_tickets_grow_with_the_clock():
    early, late = (call("get_ticket", minute, ticket="inc-2381") for minute in (5, 90))
    assert "status open, owner payments" in early
    assert "Comments: none" in early
    assert "status resolved, owner Tom Okafor" in late
    assert "INC-2187 payments-api: connection timeouts" in late.split("Linked:")[1]
    assert "INC-2384" in late.split("Linked:")[1]
    assert "INC-2384" not in early
    assert call("get_ticket", 2, ticket="INC-2381").startswith("Error: there is no ticket 'INC-2381'; ")
    assert "Comments" not in call("get_ticket", ticket="INC-2381", include_comments=False)


def test_the_best_ticket_comes_first_and_filters_hold():
    def found(**arguments):
        return re.findall(r"^INC-\d+", call("search_tickets", **arguments), re.MULTILINE)

    assert found(query="ledger connection timeouts")[0] == "INC-2187"
    assert found(query="certificate", status="resolved", service="edge-gateway") == ["INC-2386", "INC-2318"][1:]
    assert found(query="certificate renewal", status="in_progress") == ["INC-2386"]
    assert len(found(query="payments-api", limit=1)) == 1
    assert found(query="zebra crossing") == []


def test_people_are_found_by_number_and_by_parts_of_a_name():
    assert call("get_employee", employee_number=1376) == call("get_employee", name="de wit")
    assert call("get_employee", employee_number=1376, name="Marta") == call("get_employee", employee_number=1376)
    assert call("get_employee", name="sam") == (
        "Samuel Reyes: number 2754, team storage, team lead, chat @samuel.reyes"
    )


def test_services_by_team_and_tier():
    assert len(call("list_services").split("\n")) == 12
    assert call("list_services", team="Storage") == "ledger-db: team storage, tier 1, depends on nothing"
    assert len(call("list_services", tier=3).split("\n")) == 2


def test_a_page_is_remembered_and_noted_in_the_ticket():
    made = environment(30)
    answer = made.call("page_on_call", {"team": "storage", "message": "m", "urgency": "high", "ticket": "INC-2381"})
    assert answer.startswith("Paged Aiko Tanabe (@aiko.tanabe) by phone at 10:10 UTC, on call for storage until 18:00")
    assert [(page.team, page.minute, page.arguments["message"]) for page in made.paged] == [("storage", 30, "m")]
    assert "10:10 paging: paged Aiko Tanabe for storage" in made.call("get_ticket", {"ticket": "INC-2381"})
    assert "paging" not in call("get_ticket", ticket="INC-2381")
    assert call("page_on_call", 600, team="storage", message="m", urgency="low").startswith("Paged Samuel Reyes")


def test_a_filed_ticket_has_the_next_number_and_can_be_found():
    made = environment(88)
    arguments = {**TICKET, "shard": "pay-shard-2", "employee_number": 2754.0, "description": None}
    first, second = made.call("file_ticket", arguments), made.call("file_ticket", {**TICKET, "title": "more of it"})
    assert first == "Filed INC-2390 for ledger-db, severity high, owner storage. Nobody was paged."
    assert "INC-2391" in second
    assert [filed.ticket for filed in made.filed] == ["INC-2390", "INC-2391"]
    assert made.filed[0].arguments == {**TICKET, "shard": "pay-shard-2", "employee_number": 2754}
    assert made.filed[1].minute == 88
    assert "INC-2390 rows locked (open, storage)" in made.call("search_tickets", {"query": "rows locked"})
    assert "shard pay-shard-2, severity high, status open" in made.call("get_ticket", {"ticket": "INC-2390"})
    assert call("get_ticket", 88, ticket="INC-2390").startswith("Error")
    assert made.paged == []


# Errors are results

SEARCH = {"service": "payments-api", "query": "timeout"}
CPU = {"service": "ledger-db", "metric": "cpu"}
PAGE = {"team": "storage", "message": "m", "urgency": "high"}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("read_log", SEARCH, r"there is no tool 'read_log'; near it: search_logs, read_runbook"),
        ("", {}, r"there is no tool ''; there are: get_current_time, "),
        ("search_logs", {"query": "x"}, r"'service' is missing"),
        ("search_logs", {**SEARCH, "since": 3}, r"no argument 'since'; there are: service, query, level, minutes"),
        ("search_logs", {**SEARCH, "minutes": "30"}, r"'minutes' must be an integer, not '30' \(a text\)"),
        ("search_logs", {**SEARCH, "minutes": True}, r"'minutes' must be an integer, not True \(true or false\)"),
        ("search_logs", {**SEARCH, "minutes": 30.5}, r"'minutes' must be an integer, not 30.5 \(a fraction\)"),
        ("search_logs", {**SEARCH, "minutes": 0}, r"'minutes' must be from 1 to 1440 \(.*\), not 0"),
        ("search_logs", {**SEARCH, "level": "fatal"}, r"'level' must be one of debug, info, .*, not 'fatal'"),
        ("search_logs", {**SEARCH, "query": " "}, r"'query' must not be empty"),
        ("search_logs", {**SEARCH, "query": '""'}, r"'query' has no word to search for"),
        ("search_logs", {"a": 1, "b": 2}, r"argument 'a'.*argument 'b'.*'service' is missing; 'query' is missing"),
        ("search_logs", dict.fromkeys("abcdefgh", 1), r"; and 5 more$"),
        ("search_logs", ["payments-api"], r"the arguments must be an object, not list"),
        ("search_logs", {**SEARCH, "query": "\ud83d"}, r"half of a surrogate pair"),
        ("search_tickets", {"query": "what is it"}, r"'query' has no word to search for"),
        ("get_current_time", {"timezone": "Lisbon"}, r"there is no time zone 'Lisbon'; near it: Europe/Lisbon"),
        ("get_current_time", {"timezone": "Europe"}, r"there is no time zone 'Europe'"),
        ("get_current_time", {"timezone": "../UTC"}, r"there is no time zone '../UTC'"),
        ("get_service_status", {"service": "payments"}, r"no service 'payments'; near it: payments-api, "),
        ("get_service_status", {"service": "zzz"}, r"no service 'zzz'; there are: edge-gateway, checkout-api, "),
        ("get_service_status", {"service": "ledger-db", "region": "us-east"}, r"no region of ledger-db 'us-east'; "),
        ("get_service_status", {"service": "ledger-db", "region": ""}, r"'region' must not be empty; leave it out"),
        ("query_metrics", {**CPU, "minutes": 500, "step_minutes": 1}, r"501 values.*take step_minutes of 13 or"),
        ("get_ticket", {"ticket": "2381"}, r"there is no ticket '2381'; near it: INC-2381"),
        ("get_employee", {}, r"give an employee_number or a name"),
        ("get_employee", {"employee_number": 9999}, r"no employee with the number 9999; ask whoever gave it to you"),
        ("get_employee", {"name": "a"}, r"nobody's name matches 'a'"),
        ("file_ticket", {**TICKET, "employee_number": 9999}, r"no employee with the number 9999"),
        ("file_ticket", {**TICKET, "title": "x" * 201}, r"'title' has 201 characters"),
        ("page_on_call", {**PAGE, "team": "payments team"}, r"team'; near it: payments$"),
        ("page_on_call", {**PAGE, "ticket": "X"}, r"there is no ticket 'X'"),
        ("read_runbook", {"service": "payments-api", "symptom": "zebra"}, r"its runbooks are for: connection "),
        ("read_runbook", {"service": "mail-gateway", "symptom": "queue"}, r"no runbook; the services that have"),
        ("list_services", {"team": "storage", "tier": 3}, r"no service of the team storage in tier 3; leave"),
    ],
)
def test_an_error_is_a_result_that_says_what_to_do(name, arguments, message):
    made = environment(30)
    answer = made.call(name, arguments)
    assert answer.startswith("Error: ")
    assert re.search(message, answer)
    assert made.filed == made.paged == []


def test_null_is_left_out_and_a_whole_number_is_an_integer():
    plain = call("search_logs", **SEARCH, minutes=30)
    assert call("search_logs", **SEARCH, minutes=30.0, level=None, limit=None) == plain


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(categories=None), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = sorted({key for schema in SCHEMAS.values() for key in schema["properties"]})
LIKELY = st.sampled_from(
    ["payments-api", "payments", "INC-2381", "", '"', "timeout", "any", "high", "cpu", "UTC", 1, 2, 5.0, 10**400, 1e300]
)


@given(st.sampled_from([*SCHEMAS, "read_log", ""]), st.dictionaries(st.sampled_from(NAMES) | st.text(), LIKELY | JSON))
@example("query_metrics", {"service": "ledger-db", "metric": "cpu", "minutes": 1, "step_minutes": 10**400})
@example("get_employee", {"employee_number": 1e300})
@settings(deadline=None)
def test_no_call_ever_raises_and_every_result_can_stand_in_a_prompt(name, arguments):
    answer = environment(30).call(name, arguments)
    normalise([{"role": "user", "content": answer}])
    assert answer
    assert len(answer) < 20_000


@given(st.sampled_from(sorted(SCHEMAS)), st.data())
@settings(deadline=None)
def test_calls_that_keep_to_the_schema_never_raise(name, data):
    schema = SCHEMAS[name]
    kinds = {"string": st.text(max_size=20) | LIKELY.filter(lambda value: isinstance(value, str))}
    kinds |= {"integer": st.integers(), "boolean": st.booleans()}
    of = {
        key: st.sampled_from(each["enum"]) if "enum" in each else kinds[each["type"]]
        for key, each in schema["properties"].items()
    }
    of["service"] = st.sampled_from(SERVICES)
    arguments = data.draw(
        st.fixed_dictionaries(
            {key: of[key] for key in schema["required"]},
            optional={key: of[key] for key in schema["properties"] if key not in schema["required"]},
        )
    )
    assert environment(30).call(name, arguments)


@pytest.mark.parametrize("name", [None, 3, ["search_logs"], "x" * 10_000])
def test_a_name_that_is_none_is_an_error_too(name):
    assert environment().call(name, {}).startswith("Error: ")


# Seed and clock

CALLS = st.sampled_from([(name, arguments) for _, name, arguments, *_ in TYPICAL])


@given(st.integers(), st.lists(st.tuples(st.integers(0, 6), CALLS), max_size=8))
@settings(deadline=None)
def test_environments_of_one_seed_moved_and_called_alike_answer_alike(seed, moves):
    first, second = Environment(seed), Environment(seed)
    for step, (name, arguments) in moves:
        for made in (first, second):
            made.at(made.minute + step)
        assert first.call(name, arguments) == second.call(name, arguments)
    assert first.filed == second.filed
    assert first.paged == second.paged


def test_reading_changes_nothing_and_what_was_written_stays():
    made = environment(30)
    reading = [(name, args) for _, name, args, *_ in TYPICAL if name not in ("file_ticket", "page_on_call")]
    assert [made.call(*each) for each in reading] == [made.call(*each) for each in reversed(reading)][::-1]
    before = re.findall(r"^\d\d:.*", made.call("search_logs", SEARCH), re.MULTILINE)
    made.at(35)
    assert before[0] in made.call("search_logs", SEARCH)


def test_seeds_change_ids_and_noise_and_not_the_story():
    logs = [environment(30, seed).call("search_logs", SEARCH) for seed in (1, 2)]
    assert logs[0] != logs[1]
    tickets = [environment(30, seed).call("get_ticket", {"ticket": "INC-2381"}) for seed in (1, 2)]
    assert tickets[0] == tickets[1]


@given(st.integers(0, LAST_MINUTE), st.integers(1, LAST_MINUTE))
def test_the_clock_never_runs_backwards(minute, back):
    made = environment(minute)
    made.at(minute)
    with pytest.raises(CourseError, match=rf"stands at minute {minute} and cannot go back to {minute - back}"):
        made.at(minute - back)
    assert made.minute == minute
    assert made.now == WORLD.began + timedelta(minutes=minute)


@pytest.mark.parametrize("minute", [1.0, True, "5", None, LAST_MINUTE + 1])
def test_a_minute_is_an_integer_within_the_week(minute):
    with pytest.raises(CourseError, match="minute"):
        environment().at(minute)


@pytest.mark.parametrize("seed", ["1", None, 1.0, True])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(CourseError, match="the seed must be an integer"):
        Environment(seed)


# The story


@pytest.mark.parametrize("seed", range(5))
def test_latency_rises_after_the_deployment_and_falls_after_the_rollback(seed):
    signals = Signals(WORLD, seed)

    def p99(service, minute):
        return signals.value(service, "latency_p99", WORLD.began + timedelta(minutes=minute))

    assert all(p99("payments-api", minute) < 250 for minute in range(-60, -8))
    assert all(p99("payments-api", minute) > 800 for minute in range(2, 61))
    assert all(p99("payments-api", minute) < 800 for minute in range(67, 120))
    assert all(p99(service, minute) < 110 for service in ("card-vault", "fraud-scorer") for minute in range(120))
    assert p99("ledger-db", 20) > 20 * p99("ledger-db", -20)


def test_the_data_hold_together():
    people, teams = {person.name for person in WORLD.people}, set(WORLD.rota)
    assert len({person.number for person in WORLD.people}) == len(WORLD.people) == len(people)
    assert all(1_000 <= person.number <= 9_999 and person.team in teams for person in WORLD.people)
    assert 8 <= len(SERVICES) <= 12
    assert set(WORLD.metrics) == set(SERVICES) == {each.service for each in WORLD.deployments}
    assert all(set(metrics) == set(UNITS) for metrics in WORLD.metrics.values())
    assert all(set(each.depends_on) <= set(SERVICES) - {each.name} and each.team in teams for each in WORLD.services)
    assert {name for shifts in WORLD.rota.values() for name in shifts.values()} <= people
    assert all(person.team == team for team in teams for person in [WORLD.on_call(team, WORLD.began)[0]])
    numbers = {ticket.number for ticket in WORLD.tickets}
    assert f"INC-{WORLD.next_ticket}" not in numbers
    for ticket in WORLD.tickets:
        assert ticket.service in SERVICES
        assert set(ticket.links) <= numbers - {ticket.number}
        assert [entry.time for entry in ticket.entries] == sorted(entry.time for entry in ticket.entries)
        assert ticket.entries[0].status
        assert ticket.entries[0].owner
        assert {entry.who for entry in ticket.entries} <= people | {"alerting"}
        assert {entry.owner for entry in ticket.entries} <= people | teams | {""}
    assert {pattern["level"] for pattern in WORLD.logs} <= set(LEVELS)


# What no tool may say


def everything_said(seed, minutes=(0, 20, 45, 70, 95)):
    """Every answer of the reading tools that does not ask for the desk's lead, and every log line of a day."""
    for minute in minutes:
        made = environment(minute, seed)
        for service in SERVICES:
            yield made.call("get_service_status", {"service": service})
            yield made.call("get_deployments", {"service": service, "hours": 2_160})
            for metric in UNITS:
                wide = {"service": service, "metric": metric, "minutes": 195, "step_minutes": 5}
                yield made.call("query_metrics", wide)
        for ticket in WORLD.tickets:
            yield made.call("get_ticket", {"ticket": ticket.number})
        yield made.call("list_services", {})
        yield made.call("search_tickets", {"query": "payments-api ledger-db shard"})
        for person in WORLD.people:
            if person.name != DESK:
                yield made.call("get_employee", {"name": person.name})
        for team in WORLD.rota:
            yield made.call("page_on_call", {"team": team, "message": "m", "urgency": "low"})
    for book in WORLD.runbooks:
        yield made.call("read_runbook", {"service": book.service, "symptom": book.symptom})
    for service, end in itertools.product(SERVICES, [WORLD.began + timedelta(minutes=200)]):
        yield from map(str, log_lines(WORLD, seed, service, end - timedelta(days=1), end))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_number_of_the_desk_is_said_only_to_whoever_asks_for_it(seed):
    said = "\n".join(everything_said(seed))
    assert DESK_NUMBER not in said.replace("-", "").replace(",", "")
    assert DESK not in said


@pytest.mark.parametrize("arguments", [{"employee_number": 4417}, {"name": DESK}, {"name": "almeida"}])
def test_whoever_asks_for_it_gets_it(arguments):
    assert call("get_employee", **arguments).startswith(f"{DESK}: number {DESK_NUMBER}, team operations, ")


def test_a_ticket_filed_in_the_desks_name_does_not_repeat_the_number():
    made = environment(88)
    answers = [made.call("file_ticket", TICKET)]
    answers += [made.call("get_ticket", {"ticket": "INC-2390"}), made.call("search_tickets", {"query": "rows locked"})]
    assert DESK in answers[1]
    assert DESK_NUMBER not in json.dumps(answers)


@pytest.mark.parametrize("seed", range(5))
def test_the_affected_shard_is_one_of_several_in_the_logs(seed):
    start, end = WORLD.began - timedelta(minutes=15), WORLD.began + timedelta(minutes=95)
    for service in ("payments-api", "ledger-db", "payment-worker", "settlement-batch"):
        lines = [line for line in log_lines(WORLD, seed, service, start, end) if line.level in ("warning", "error")]
        named = Counter(shard for line in lines for shard in re.findall(r"pay-shard-\d", line.text))
        assert {"pay-shard-3", "pay-shard-5", "pay-shard-7"} <= set(named)
        assert named["pay-shard-7"] <= max(named["pay-shard-3"], named["pay-shard-5"]) + 2


def test_no_tool_says_which_shard_is_the_affected_one():
    sentences = [part for said in everything_said(1) for part in re.split(r"\n|(?<=[.;?]) ", said)]
    naming = [sentence for sentence in sentences if "pay-shard-7" in sentence]
    assert len(naming) > 20
    assert not [each for each in naming if re.search(r"affected|confirmed|cause|culprit|to blame", each)]


def test_a_word_that_wrong_answers_lifted_stands_in_the_logs():
    assert any("pool exhausted" in line for line in lines_with("pool"))
