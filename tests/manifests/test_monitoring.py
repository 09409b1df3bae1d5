"""Alerts, dashboard and runbook: they fire when they are to, and name only what there is."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from deployed import Deployed, fetched, until
from rendered import KUBERNETES, ROOT, Overlay

MONITORING = KUBERNETES / "components" / "monitoring"
RUNBOOK = ROOT / "deploy" / "runbook"
HERE = Path(__file__).parent
# What a healthy server does not show: nothing has gone wrong.
RARE = {
    "parlor_calls_shed_total",
    "parlor_change_retries_total",
    "parlor_forks_total",
    "parlor_panics_total",
    "parlor_store_reconnects_total",
    "parlor_tokens_refused_total",
}
# What kube-state-metrics shows.
FOREIGN = {"kube_cronjob_status_last_successful_time"}
METRIC = re.compile(r"\b((?:parlor|rpc|db|redis|process|kube)_\w+)\b(?=\{|\[|\)| |$)")


@pytest.fixture(scope="module")
def rules(prod: Overlay) -> dict:
    """The rules, as Prometheus takes them."""
    return {"groups": prod.one("PrometheusRule")["spec"]["groups"]}


def alerts(rules: dict) -> list[dict]:
    """All alerts."""
    return [rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule]


def promtool(*arguments: str | Path, cwd: Path) -> None:
    """Runs it; it must be content."""
    command = ["promtool", *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_fire_when_they_are_to_and_only_then(rules: dict, tmp_path: Path) -> None:
    tests = yaml.safe_load((HERE / "alerts_test.yaml").read_text())
    tests["rule_files"] = ["rules.yaml"]
    texts = {alert["alert"]: alert["annotations"] for alert in alerts(rules)}
    fired = set()
    well = tests["tests"][0]
    assert well["name"] == "all is well"
    well["alert_rule_test"] = [{"eval_time": "2h", "alertname": name} for name in texts]
    for expectation in (it for test in tests["tests"] for it in test["alert_rule_test"]):
        for alert in expectation.get("exp_alerts", []):
            # It wants to be told the texts again.
            alert["exp_annotations"] = texts[expectation["alertname"]]
            fired.add(expectation["alertname"])
    assert fired == set(texts), "there is a test for every alert"
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump(rules))
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(tests))
    promtool("check", "rules", "rules.yaml", cwd=tmp_path)
    promtool("test", "rules", "tests.yaml", cwd=tmp_path)


def test_every_alert_has_a_page_in_the_runbook_that_names_it(rules: dict) -> None:
    names = {alert["alert"] for alert in alerts(rules)}
    for alert in alerts(rules):
        assert alert["labels"]["severity"] in {"page", "ticket"}
        page = ROOT / alert["annotations"]["runbook"]
        assert f"`{alert['alert']}`" in page.read_text()
    for page in RUNBOOK.glob("*.md"):
        assert set(re.findall(r"`(Parlor\w+)`", page.read_text())) <= names, page.name


def test_the_runbook_lists_its_pages() -> None:
    listed = set(re.findall(r"\]\((\w[^)]*\.md)\)", (RUNBOOK / "README.md").read_text()))
    assert listed | {"README.md"} == {page.name for page in RUNBOOK.glob("*.md")}


def test_links_in_the_runbook_lead_somewhere() -> None:
    for page in RUNBOOK.glob("*.md"):
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{link} in {page.name}"


def test_the_dashboard_is_what_its_script_writes() -> None:
    command = [sys.executable, MONITORING / "dashboard.py"]
    written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert (MONITORING / "dashboard.json").read_text() == written


def scrape_of_probe(production: Deployed) -> str:
    """What the probe shows once it has played a match."""
    address = production.start_probe()
    seen = []

    def has_played() -> bool:
        seen.append(fetched(f"http://{address}/metrics"))
        return 'result="finished"' in seen[-1]

    until("it has played a match", has_played)
    return seen[-1]


def test_rules_and_dashboard_name_only_metrics_that_there_are(
    production: Deployed, rules: dict
) -> None:
    assert production.play("--api-key", production.api_key).returncode == 0
    scrapes = [
        production.look("/metrics"),
        scrape_of_probe(production),
        *(fetched(f"http://{address}/metrics") for address in production.start_exporters()),
    ]
    shown = set(re.findall(r"^(\w+?)(?:\{| )", "\n".join(scrapes), re.MULTILINE))
    # All that can ever be, by the names that the program gives them.
    table = (ROOT / "src/telemetry/metrics.rs").read_text()
    known = {name.replace(".", "_") for name in re.findall(r'name: "([\w.]+)"', table)}
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    asked = [it["expr"] for panel in dashboard["panels"] for it in panel.get("targets", [])]
    asked += [it["expr"] for it in dashboard["annotations"]["list"]]
    asked += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    for text in asked:
        names = set(METRIC.findall(re.sub(r"by \([^)]*\)", "", text)))
        assert names or "parlor:" in text, text
        for name in names - FOREIGN:
            assert name in shown or name in RARE, f"{name} in {text}"
    assert {name.removesuffix("_total") for name in RARE} <= known
    recorded = {rule.get("record") for group in rules["groups"] for rule in group["rules"]}
    for text in asked:
        assert set(re.findall(r"\bparlor:[\w:]+", text)) <= recorded, text


def test_redis_is_seen_by_its_exporters(production: Deployed) -> None:
    scrapes = [fetched(f"http://{it}/metrics") for it in production.start_exporters()]
    assert len(scrapes) == 3
    assert all("\nredis_up 1\n" in text for text in scrapes)
    assert sum("\nredis_connected_slaves 2\n" in text for text in scrapes) == 1


def test_everything_that_has_metrics_is_scraped(prod: Overlay) -> None:
    scraped = set()
    for monitor in prod.all("PodMonitor"):
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        selector = monitor["spec"]["selector"]
        names = list(selector.get("matchLabels", {}).values())
        names += [it for found in selector.get("matchExpressions", []) for it in found["values"]]
        scraped |= {(name, endpoint["port"]) for name in names}
    offered = {
        (pod["metadata"]["labels"]["app.kubernetes.io/name"], port["name"])
        for pod in prod.pods
        for container in pod["spec"]["containers"]
        for port in container.get("ports", [])
        if port["name"] in {"admin", "metrics"}
    }
    assert scraped == offered
