"""Alerts, dashboard and runbook: they fire when they are to, and name only what there is."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from deployed import Deployed
from rendered import KUBERNETES, ROOT, Overlay

MONITORING = KUBERNETES / "components" / "monitoring"
RUNBOOK = ROOT / "deploy" / "runbook"
HERE = Path(__file__).parent
# What a healthy server does not show: nothing has gone wrong.
RARE = {"parlor_forks_total", "parlor_change_retries_total", "parlor_store_reconnects_total"}
METRIC = re.compile(r"\b((?:parlor|rpc|db)_\w+)\b(?=\{|\[|\)| |$)")


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
    named = set()
    for alert in alerts(rules):
        assert alert["labels"]["severity"] in {"page", "ticket"}
        page = ROOT / alert["annotations"]["runbook"]
        assert f"`{alert['alert']}`" in page.read_text()
        named.add(page)
    assert named == set(RUNBOOK.glob("*.md")), "there is no page without an alert"


def test_links_in_the_runbook_lead_somewhere() -> None:
    for page in RUNBOOK.glob("*.md"):
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{link} in {page.name}"


def test_rules_and_dashboard_name_only_metrics_that_there_are(
    deployed: Deployed, rules: dict
) -> None:
    assert deployed.play("--api-key", deployed.api_key).returncode == 0
    shown = set(re.findall(r"^(\w+?)(?:\{| )", deployed.look("/metrics"), re.MULTILINE))
    # All that can ever be, by the names that the program gives them.
    table = (ROOT / "src/telemetry/metrics.rs").read_text()
    known = {name.replace(".", "_") for name in re.findall(r'name: "([\w.]+)"', table)}
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    for text in asked:
        names = set(METRIC.findall(re.sub(r"by \([^)]*\)", "", text)))
        assert names or "parlor:errors" in text, text
        for name in names:
            assert name in shown or name in RARE, f"{name} in {text}"
    assert {name.removesuffix("_total") for name in RARE} <= known


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
