#!/usr/bin/env python3
"""Writes the dashboard: `dashboard.py > dashboard.json`. Rows of panels, each of some questions."""

import json
import sys
from collections.abc import Iterator

SUBMIT = 'rpc_method="parlor.v1.MatchService/SubmitAction"'
DURATION = "rpc_server_call_duration_seconds_bucket"


def quantile(share: float, metric: str, by: str = "") -> str:
    """How much this share of all takes at most."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}[5m])))"


def rate(metric: str, by: str) -> str:
    """How many a second."""
    return f"sum by ({by}) (rate({metric}[5m]))"


# Rows; in each, panels: their titles, their units, and what they show under which names.
ROWS: dict[str, list[tuple[str, str, dict[str, str]]]] = {
    "Objectives": [
        (
            "Errors, against the 0.1 % that they may be",
            "percentunit",
            {
                "5 minutes": "parlor:errors:ratio_rate5m",
                "1 hour": "parlor:errors:ratio_rate1h",
                "3 days": "parlor:errors:ratio_rate3d",
            },
        ),
        (
            "What is left of the errors of 30 days",
            "percentunit",
            {"left": "1 - parlor:errors:ratio_rate30d / 0.001"},
        ),
        (
            "Within the time that they may take, of 99 %",
            "percentunit",
            {
                "actions, 50 ms": f'sum(rate({DURATION}{{{SUBMIT}, le="0.05"}}[5m]))'
                f" / sum(rate(rpc_server_call_duration_seconds_count{{{SUBMIT}}}[5m]))",
                "updates, 250 ms": 'sum(rate(parlor_delivery_duration_seconds_bucket{le="0.25"}[5m]))'
                " / sum(rate(parlor_delivery_duration_seconds_count[5m]))",
            },
        ),
        (
            "Matches of the probe",
            "short",
            {
                "{{result}} in 5 minutes": "sum by (result) "
                "(increase(parlor_probe_matches_total[5m]))",
                "99 % took, in seconds": quantile(0.99, "parlor_probe_duration_seconds_bucket"),
            },
        ),
    ],
    "Calls": [
        ("Calls, by method", "reqps", {"{{method}}": rate("parlor_calls_total", "method")}),
        (
            "Calls that were not OK, by code",
            "reqps",
            {"{{code}}": rate('parlor_calls_total{code!="OK"}', "code")},
        ),
        (
            "Errors, by method",
            "reqps",
            {
                "{{method}}": rate(
                    'parlor_calls_total{code=~"UNKNOWN|INTERNAL|UNAVAILABLE|DATA_LOSS|DEADLINE_EXCEEDED"}',
                    "method",
                )
            },
        ),
        (
            "How long calls take, 99 %",
            "s",
            {"{{rpc_method}}": quantile(0.99, DURATION, "rpc_method")},
        ),
        (
            "Refused for load, by reason",
            "reqps",
            {"{{reason}}": rate("parlor_calls_shed_total", "reason")},
        ),
        (
            "Tokens refused, by reason",
            "reqps",
            {"{{reason}}": rate("parlor_tokens_refused_total", "reason")},
        ),
        (
            "Matches, by game",
            "reqps",
            {
                "{{game}} created": rate("parlor_matches_created_total", "game"),
                "{{game}} finished": rate("parlor_matches_finished_total", "game"),
            },
        ),
        ("Actions, by game", "reqps", {"{{game}}": rate("parlor_actions_total", "game")}),
    ],
    "Streams": [
        ("Streams open, by instance", "short", {"{{pod}}": "parlor_streams_open"}),
        (
            "Streams ended, by reason",
            "reqps",
            {"{{reason}}": rate("parlor_streams_ended_total", "reason")},
        ),
        (
            "From a change to its viewers",
            "s",
            {
                "99 %, made {{made}}": quantile(
                    0.99, "parlor_delivery_duration_seconds_bucket", "made"
                )
            },
        ),
        (
            "How long streams live",
            "s",
            {"half": quantile(0.5, "parlor_stream_duration_seconds_bucket")},
        ),
        (
            "Versions that viewers are behind",
            "short",
            {"99 %": quantile(0.99, "parlor_stream_lag_bucket")},
        ),
        (
            "Changes heard of, by how",
            "reqps",
            {"{{by}}": rate("parlor_announcements_total", "by")},
        ),
    ],
    "Redis": [
        ("Commits, by result", "reqps", {"{{result}}": rate("parlor_commits_total", "result")}),
        (
            "Changes decided anew, histories lost",
            "short",
            {
                "after {{because}}": rate("parlor_change_retries_total", "because"),
                "lost, found by {{found}}": "sum by (found) (parlor_forks_total)",
            },
        ),
        (
            "Round trips to Redis",
            "s",
            {
                "99 %, {{db_operation_name}}": quantile(
                    0.99, "db_client_operation_duration_seconds_bucket", "db_operation_name"
                )
            },
        ),
        (
            "Redis: failures and reconnects",
            "reqps",
            {
                "{{db_operation_name}} failed": rate(
                    'db_client_operation_duration_seconds_count{outcome="failed"}',
                    "db_operation_name",
                ),
                "{{connection}} reconnected": rate(
                    "parlor_store_reconnects_total", "connection"
                ),
            },
        ),
        (
            "Memory, of what Redis may have",
            "percentunit",
            {"{{pod}}": "redis_memory_used_bytes / (redis_memory_max_bytes > 0)"},
        ),
        (
            "Redis that are there, replicas of the primary, durability",
            "short",
            {
                "there": "sum(redis_up)",
                "replicas": "max(redis_connected_slaves)",
                "asked {{asked}}, found {{found}}": "sum by (asked, found) "
                "(parlor_store_durability)",
            },
        ),
        (
            "Size of the log of Redis",
            "bytes",
            {"{{pod}}": "redis_aof_current_size_bytes"},
        ),
    ],
    "Saturation": [
        (
            "CPU, by instance, in cores",
            "short",
            {"{{pod}}": "rate(process_cpu_seconds_total[5m])"},
        ),
        ("Memory, by instance", "bytes", {"{{pod}}": "process_resident_memory_bytes"}),
        (
            "How late instances are, 99 %",
            "s",
            {"{{pod}}": quantile(0.99, "parlor_runtime_lag_seconds_bucket", "pod")},
        ),
        (
            "Of what an instance may have",
            "percentunit",
            {
                "{{pod}} streams": "parlor_streams_open"
                ' / ignoring(limit) parlor_limits{limit="streams"}',
                "{{pod}} connections": "parlor_connections_open"
                ' / ignoring(limit) parlor_limits{limit="connections"}',
                "{{pod}} memory": "process_resident_memory_bytes"
                ' / ignoring(limit) parlor_limits{limit="memory"}',
                "{{pod}} files": "process_open_fds / process_max_fds",
            },
        ),
    ],
    "What runs": [
        ("Instances, by version", "short", {"{{version}}": "count by (version) (parlor_build)"}),
        ("How it is set", "short", {"{{store}}, {{runtime}}": "count by (store, runtime) (parlor_config)"}),
        (
            "Days until certificates end",
            "short",
            {"{{pod}}": "(parlor_certificate_expires_seconds - time()) / 86400"},
        ),
        ("Mistakes of ours", "short", {"{{where}}": "sum by (where) (parlor_panics_total)"}),
    ],
}
SOURCE = {"type": "prometheus", "uid": "${source}"}


def panels() -> Iterator[dict]:
    """All rows and panels, two beside each other."""
    number = y = 0
    for row, its in ROWS.items():
        number += 1
        place = {"x": 0, "y": y, "w": 24, "h": 1}
        yield {"id": number, "type": "row", "title": row, "gridPos": place, "panels": []}
        y += 1
        for index, (title, unit, shown) in enumerate(its):
            number += 1
            yield {
                "id": number,
                "type": "timeseries",
                "title": title,
                "datasource": SOURCE,
                "gridPos": {"x": index % 2 * 12, "y": y + index // 2 * 8, "w": 12, "h": 8},
                "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
                "targets": [
                    {"refId": chr(ord("A") + at), "expr": expr, "legendFormat": legend}
                    for at, (legend, expr) in enumerate(shown.items())
                ],
            }
        y += (len(its) + 1) // 2 * 8


DASHBOARD = {
    "title": "Parlor",
    "uid": "parlor",
    "schemaVersion": 39,
    "tags": ["parlor"],
    "refresh": "30s",
    "time": {"from": "now-3h", "to": "now"},
    "templating": {
        "list": [
            {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
        ]
    },
    # Over all panels, when a version that was not there before began.
    "annotations": {
        "list": [
            {
                "name": "Roll-outs",
                "datasource": SOURCE,
                "enable": True,
                "iconColor": "blue",
                "expr": "count by (version) (parlor_build)"
                " unless count by (version) (parlor_build offset 5m)",
                "titleFormat": "{{version}}",
                "useValueForTime": False,
            }
        ]
    },
    "panels": list(panels()),
}

if __name__ == "__main__":
    json.dump(DASHBOARD, sys.stdout, indent=1)
    print()
