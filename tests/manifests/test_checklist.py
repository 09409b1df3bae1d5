"""What we ask of a deployment beyond that it is valid."""

import re
from collections.abc import Callable

import pytest

from rendered import ROOT, Overlay, quantity


def containers(pod: dict) -> list[dict]:
    """All containers of a pod."""
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def test_instances_are_many_and_only_the_autoscaler_says_how_many(overlay: Overlay) -> None:
    assert "replicas" not in overlay.deployment
    scaler = overlay.one("HorizontalPodAutoscaler")["spec"]
    assert scaler["scaleTargetRef"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": overlay.one("Deployment")["metadata"]["name"],
    }
    if overlay.name != "dev":
        assert scaler["minReplicas"] >= 3


def test_the_autoscaler_adds_fast_and_removes_slowly(overlay: Overlay) -> None:
    scaler = overlay.one("HorizontalPodAutoscaler")["spec"]
    cpu, *others = scaler["metrics"]
    assert cpu["resource"]["name"] == "cpu"
    assert cpu["resource"]["target"] == {"type": "Utilization", "averageUtilization": 60}
    # Where nobody collects metrics, the autoscaler would wait for them and remove nothing.
    assert bool(others) == bool(overlay.all("PodMonitor"))
    for streams in others:
        assert streams["pods"]["metric"] == {"name": "parlor_streams_open"}
        assert streams["pods"]["target"] == {"type": "AverageValue", "averageValue": "6000"}
    up, down = scaler["behavior"]["scaleUp"], scaler["behavior"]["scaleDown"]
    assert up["policies"] == [{"type": "Percent", "value": 100, "periodSeconds": 30}]
    assert down["stabilizationWindowSeconds"] >= 600
    assert down["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 120}]


def test_a_roll_out_never_has_fewer_instances(overlay: Overlay) -> None:
    strategy = overlay.deployment["strategy"]
    assert strategy["type"] == "RollingUpdate"
    assert strategy["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    assert overlay.deployment["minReadySeconds"] == 10
    assert overlay.deployment["progressDeadlineSeconds"] == 300
    assert overlay.deployment["revisionHistoryLimit"] == 5


def test_production_names_its_image_by_digest(prod: Overlay) -> None:
    assert re.search(r"@sha256:[0-9a-f]{64}$", prod.container["image"])
    assert prod.container["imagePullPolicy"] == "IfNotPresent"


def test_the_image_is_small_and_not_roots() -> None:
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text()
    assert dockerfile.count("\nFROM ") + dockerfile.startswith("FROM") == 2
    assert "\nFROM scratch\n" in dockerfile
    assert "target-feature=+crt-static" in dockerfile
    (user, group) = re.search(r"^USER (\d+):(\d+)$", dockerfile, re.MULTILINE).groups()
    assert min(int(user), int(group)) >= 10_000


def test_the_pods_user_is_the_images(overlay: Overlay) -> None:
    dockerfile = (ROOT / "deploy/docker/Dockerfile").read_text()
    context = overlay.pod["securityContext"]
    assert f"USER {context['runAsUser']}:{context['runAsGroup']}" in dockerfile


@pytest.mark.parametrize(
    ("probe", "period", "failures", "path"),
    [
        ("startupProbe", 5, 12, "/readyz"),
        ("readinessProbe", 5, 2, "/readyz"),
        ("livenessProbe", 10, 3, "/livez"),
    ],
)
def test_probes_ask_at_a_port_that_callers_do_not_reach(
    overlay: Overlay, probe: str, period: int, failures: int, path: str
) -> None:
    probe = overlay.container[probe]
    assert probe["httpGet"] == {"path": path, "port": "admin"}
    found = (probe["timeoutSeconds"], probe["periodSeconds"], probe["failureThreshold"])
    assert found == (2, period, failures)
    for name in ("parlor", "parlor-headless"):
        (port,) = overlay.one("Service", name)["spec"]["ports"]
        assert port["targetPort"] == "grpc"


def test_ports_are_those_that_the_program_listens_on(overlay: Overlay) -> None:
    ports = {port["name"]: port["containerPort"] for port in overlay.container["ports"]}
    data = overlay.one("ConfigMap")["data"]
    assert data["PARLOR_LISTEN"] == f"0.0.0.0:{ports['grpc']}"
    assert data["PARLOR_ADMIN_LISTEN"] == f"0.0.0.0:{ports['admin']}"


def test_the_image_is_built_with_a_list_of_what_is_in_it() -> None:
    for text in ("deploy/docker/Dockerfile", "deploy/README.md"):
        assert "--sbom=true" in (ROOT / text).read_text()


def test_an_instance_has_the_time_that_it_takes_to_stop(overlay: Overlay) -> None:
    sleep = overlay.container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = overlay.one("ConfigMap")["data"]["PARLOR_DRAIN"]
    assert sleep == 5
    assert sleep + int(drain.removesuffix("s")) + 5 <= overlay.pod["terminationGracePeriodSeconds"]
    assert overlay.pod["terminationGracePeriodSeconds"] == 40


def test_what_containers_may_use_is_bounded(overlay: Overlay) -> None:
    for pod in overlay.pods:
        for container in containers(pod):
            limits, requests = (container["resources"][key] for key in ("limits", "requests"))
            assert quantity(requests["cpu"]) > 0
            assert "cpu" not in limits, "nobody is throttled"
            assert quantity(limits["memory"]) <= 2 * quantity(requests["memory"])
            assert limits["ephemeral-storage"]
            assert requests["ephemeral-storage"]


def test_an_instance_lets_nobody_in_before_its_container_ends(overlay: Overlay) -> None:
    (most,) = (it["value"] for it in overlay.container["env"] if it["name"] == "PARLOR_MEMORY")
    resources = overlay.container["resources"]
    assert quantity(most) > quantity(resources["requests"]["memory"])
    assert quantity(most) <= 0.75 * quantity(resources["limits"]["memory"])


def test_no_caller_decides_which_traces_are_recorded(overlay: Overlay) -> None:
    data = overlay.one("ConfigMap")["data"]
    assert "PARLOR_OTLP_ENDPOINT" not in data or data["PARLOR_TRACE_DECISION"] == "own"


def test_threads_are_as_many_as_cores_are_asked_for(overlay: Overlay) -> None:
    (threads,) = (it for it in overlay.container["env"] if it["name"] == "TOKIO_WORKER_THREADS")
    assert threads["valueFrom"]["resourceFieldRef"]["resource"] == "requests.cpu"


def test_pods_are_not_root_and_have_no_rights(overlay: Overlay) -> None:
    accounts = {it["metadata"]["name"]: it for it in overlay.all("ServiceAccount")}
    for pod in overlay.pods:
        spec, context = pod["spec"], pod["spec"]["securityContext"]
        assert context["runAsNonRoot"] is True
        assert min(context[key] for key in ("runAsUser", "runAsGroup", "fsGroup")) >= 10_000
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["enableServiceLinks"] is False
        assert spec["automountServiceAccountToken"] is False
        assert accounts[spec["serviceAccountName"]]["automountServiceAccountToken"] is False
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_production_gives_pods_users_of_their_own(prod: Overlay) -> None:
    assert prod.pod["hostUsers"] is False
    assert prod.one("StatefulSet", "redis")["spec"]["template"]["spec"]["hostUsers"] is False


def test_everything_is_in_one_namespace_that_is_restricted(overlay: Overlay) -> None:
    (namespace,) = overlay.all("Namespace")
    for mode in ("enforce", "audit", "warn"):
        assert namespace["metadata"]["labels"][f"pod-security.kubernetes.io/{mode}"] == "restricted"
    for thing in overlay.objects:
        if thing["kind"] not in {"Namespace", "PriorityClass"}:
            assert thing["metadata"]["namespace"] == namespace["metadata"]["name"], thing


def test_instances_are_spread_over_zones_and_nodes(overlay: Overlay) -> None:
    zone, node = overlay.pod["topologySpreadConstraints"]
    assert zone["topologyKey"] == "topology.kubernetes.io/zone"
    assert node["topologyKey"] == "kubernetes.io/hostname"
    assert node["whenUnsatisfiable"] == "ScheduleAnyway"
    labels = overlay.deployment["template"]["metadata"]["labels"]
    for constraint in (zone, node):
        assert constraint["matchLabelKeys"] == ["pod-template-hash"]
        assert constraint["labelSelector"]["matchLabels"].items() <= labels.items()
    if overlay.name != "dev":
        assert zone["whenUnsatisfiable"] == "DoNotSchedule"


def test_what_people_play_on_goes_before_what_can_wait(prod: Overlay) -> None:
    (high,) = prod.all("PriorityClass")
    (low,) = Overlay("staging").all("PriorityClass")
    assert high["value"] > low["value"]
    assert high["metadata"]["name"] != low["metadata"]["name"], "they share a cluster"
    for overlay, its in ((prod, high), (Overlay("staging"), low)):
        for kind, name in (("Deployment", "parlor"), ("StatefulSet", "redis")):
            spec = overlay.one(kind, name)["spec"]["template"]["spec"]
            assert spec["priorityClassName"] == its["metadata"]["name"]


def test_disruptions_take_one_pod_at_a_time(overlay: Overlay) -> None:
    watched = {"parlor": overlay.deployment}
    if overlay.name != "dev":
        watched["redis"] = overlay.one("StatefulSet", "redis")["spec"]
    assert {it["metadata"]["name"] for it in overlay.all("PodDisruptionBudget")} == set(watched)
    for name, spec in watched.items():
        budget = overlay.one("PodDisruptionBudget", name)["spec"]
        assert budget["maxUnavailable"] == 1
        assert budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        labels = spec["template"]["metadata"]["labels"]
        assert budget["selector"]["matchLabels"].items() <= labels.items()


def test_another_setting_is_another_roll_out(overlay: Overlay) -> None:
    names = {it["metadata"]["name"] for it in overlay.all("ConfigMap")}
    assert all(re.search(r"-[a-z0-9]{10}$", name) for name in names)
    (source,) = overlay.container["envFrom"]
    assert source["configMapRef"]["name"] in names


def test_secrets_are_files_that_others_cannot_read(overlay: Overlay) -> None:
    assert not overlay.all("Secret"), "secrets are not in the repository"
    for pod in overlay.pods:
        names = set()
        for volume in pod["spec"]["volumes"]:
            if "secret" in volume:
                names.add(volume["name"])
                assert volume["secret"]["defaultMode"] == 0o400
        for container in containers(pod):
            assert "secretKeyRef" not in str(container)
            assert "secretRef" not in str(container)
            for mount in container["volumeMounts"]:
                assert mount["name"] not in names or mount["readOnly"] is True


def test_settings_name_files_that_are_mounted(overlay: Overlay) -> None:
    mounted = {mount["mountPath"] for mount in overlay.container["volumeMounts"]}
    data = overlay.one("ConfigMap")["data"]
    named = {value.removeprefix("@") for value in data.values() if "/run/secrets" in value}
    assert {f"/run/secrets/parlor/{it}" for it in ("store", "token-keys", "api-keys")} <= named
    assert {path.rpartition("/")[0] for path in named} == mounted


def test_there_is_a_service_for_proxies_and_one_for_clients_that_balance(overlay: Overlay) -> None:
    proxies = overlay.one("Service")["spec"]
    clients = overlay.one("Service", "parlor-headless")["spec"]
    assert proxies["type"] == "ClusterIP"
    assert "clusterIP" not in proxies
    assert clients["clusterIP"] == "None"
    assert clients["publishNotReadyAddresses"] is False
    labels = overlay.deployment["template"]["metadata"]["labels"]
    for service in (proxies, clients):
        (port,) = service["ports"]
        encrypted = "PARLOR_TLS_CERT" in overlay.one("ConfigMap")["data"]
        assert port["appProtocol"] == ("https" if encrypted else "kubernetes.io/h2c")
        assert service["selector"].items() <= labels.items()


def test_the_gateway_routes_all_methods_of_the_api_and_nothing_else(prod: Overlay) -> None:
    protos = (ROOT / "proto/parlor/v1").glob("*.proto")
    services = {
        f"parlor.v1.{name}"
        for proto in protos
        for name in re.findall(r"^service (\w+)", proto.read_text(), re.MULTILINE)
    }
    (rule,) = prod.one("GRPCRoute")["spec"]["rules"]
    assert rule["matches"] == [{"method": {"service": name}} for name in sorted(services)]
    (backend,) = rule["backendRefs"]
    assert (backend["name"], backend["port"]) == (
        "parlor",
        prod.one("Service")["spec"]["ports"][0]["port"],
    )


def test_the_gateway_speaks_tls_and_cuts_no_stream(prod: Overlay) -> None:
    (listener,) = prod.one("Gateway")["spec"]["listeners"]
    assert listener["protocol"] == "HTTPS"
    assert listener["tls"]["certificateRefs"]
    policy = prod.one("BackendTrafficPolicy")["spec"]
    assert policy["targetRefs"][0]["name"] == prod.one("GRPCRoute")["metadata"]["name"]
    assert policy["timeout"]["http"]["requestTimeout"] == "0s"


def test_everyone_in_production_shows_a_certificate(prod: Overlay) -> None:
    data = prod.one("ConfigMap")["data"]
    for ours in ("PARLOR_TLS", "PARLOR_REDIS"):
        assert data[f"{ours}_CERT"] == "/run/secrets/parlor-mtls/tls.crt"
        assert data[f"{ours}_KEY"] == "/run/secrets/parlor-mtls/tls.key"
    assert data["PARLOR_TLS_CLIENT_CA"] == data["PARLOR_REDIS_CA"]
    policy = prod.one("BackendTLSPolicy")["spec"]
    assert policy["targetRefs"] == [{"group": "", "kind": "Service", "name": "parlor"}]
    issued = {it["spec"]["secretName"]: it["spec"] for it in prod.all("Certificate")}
    assert policy["validation"]["hostname"] in issued["parlor-mtls"]["dnsNames"]
    shown = prod.one("EnvoyProxy")["spec"]["backendTLS"]["clientCertificateRef"]["name"]
    assert "client auth" in issued[shown]["usages"]
    (parameters,) = (it["spec"]["infrastructure"] for it in prod.all("Gateway"))
    assert parameters["parametersRef"]["kind"] == "EnvoyProxy"


def test_every_certificate_that_is_mounted_is_issued_and_renewed_in_time(prod: Overlay) -> None:
    issued = {it["spec"]["secretName"]: it["spec"] for it in prod.all("Certificate")}
    mounted = {
        volume["secret"]["secretName"]
        for pod in prod.pods
        for volume in pod["spec"]["volumes"]
        if volume["name"] == "certificates"
    }
    assert mounted == set(issued) - {"authority-mtls"}
    for name in mounted:
        # The alert on certificates begins two weeks before their end.
        assert int(issued[name]["renewBefore"].removesuffix("h")) > 14 * 24


def policies(overlay: Overlay) -> dict[str, dict]:
    """Who may talk to whom."""
    return {it["metadata"]["name"]: it["spec"] for it in overlay.all("NetworkPolicy")}


def test_nobody_may_talk_to_anybody_but_for_what_is_listed(overlay: Overlay) -> None:
    found = policies(overlay)
    both = ["Ingress", "Egress"]
    assert found.pop("nobody") == {"podSelector": {}, "policyTypes": both}
    assert found.pop("names")["podSelector"] == {}, "names are looked up by all"
    selected = [it["podSelector"]["matchLabels"] for it in found.values()]
    for pod in overlay.pods:
        assert pod["metadata"]["labels"].items() in [it.items() for it in selected]
    for policy in found.values():
        assert policy["policyTypes"] == both
        for rule in [*policy["ingress"], *policy["egress"]]:
            assert rule.get("from") or rule.get("to"), "a rule without peers is for everyone"
            assert rule["ports"]
            assert {} not in rule.get("from", []) + rule.get("to", [])


def talks(rules: list[dict]) -> set[tuple[str, str | int]]:
    """Whom a list of rules names, pods by their name and others by their namespace, and the ports."""
    found = set()
    for rule in rules:
        for peer in rule.get("from", []) + rule.get("to", []):
            (labels,) = (it["matchLabels"] for it in peer.values())
            found |= {(*labels.values(), port["port"]) for port in rule["ports"]}
    return found


def test_instances_are_called_by_few_and_call_few(overlay: Overlay) -> None:
    policy = policies(overlay)["parlor"]
    assert talks(policy["ingress"]) == {
        ("envoy-gateway-system", "grpc"),
        ("parlor-probe", "grpc"),
        ("monitoring", "admin"),
    }
    assert talks(policy["egress"]) == {("redis", 6379), ("redis", 26379), ("monitoring", 4317)}


def test_redis_is_called_by_few_and_calls_its_like(overlay: Overlay) -> None:
    policy = policies(overlay)["redis"]
    if overlay.name == "dev":
        assert talks(policy["ingress"]) == {("parlor", "redis")}
        assert policy["egress"] == []
        return
    own = {("redis", 6379), ("redis", 26379)}
    assert talks(policy["ingress"]) == own | {
        ("parlor", 6379),
        ("parlor", 26379),
        ("redis-backup", 6379),
        ("monitoring", "metrics"),
    }
    assert talks(policy["egress"]) == own
    assert talks(policies(overlay)["redis-backup"]["egress"]) == {("redis", 6379)}


def redis_conf(overlay: Overlay) -> dict[str, str]:
    """The settings of Redis."""
    lines = overlay.one("ConfigMap", "redis")["data"]["redis.conf"].splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def test_redis_keeps_what_it_acknowledged(overlay: Overlay) -> None:
    spec = overlay.one("StatefulSet", "redis")["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    conf = redis_conf(overlay)
    for container in containers(spec["template"]):
        if "command" in container:
            mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
            assert mounts[claim["metadata"]["name"]] == conf["dir"]
    assert "emptyDir" not in str(spec)
    assert spec["persistentVolumeClaimRetentionPolicy"] == {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    }
    assert (conf["appendonly"], conf["appendfsync"]) == ("yes", "always")
    assert conf["no-appendfsync-on-rewrite"] == "no"
    assert conf["aof-use-rdb-preamble"] == "yes"


def test_the_loss_of_one_redis_loses_nothing(prod: Overlay) -> None:
    spec = prod.one("StatefulSet", "redis")["spec"]
    assert spec["replicas"] == 3
    assert prod.one("ConfigMap")["data"]["PARLOR_DURABILITY"] == "replicated"
    conf = redis_conf(prod)
    assert (conf["min-replicas-to-write"], conf["min-replicas-max-lag"]) == ("1", "10")
    files = prod.one("ConfigMap", "redis")["data"]
    # Two of the three sentinels have to agree.
    assert "6379 2" in files["start-sentinel"]
    peers = re.search(r'^peers="(.*)"$', files["here.sh"], re.MULTILINE)[1].split()
    assert peers == [f"redis-{number}.redis" for number in range(spec["replicas"])]
    (apart,) = spec["template"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    (zone,) = spec["template"]["spec"]["topologySpreadConstraints"]
    assert zone["topologyKey"] == "topology.kubernetes.io/zone"
    assert zone["whenUnsatisfiable"] == "DoNotSchedule"
    for selector in (apart["labelSelector"], zone["labelSelector"]):
        assert selector["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert prod.one("Service", "redis")["spec"]["publishNotReadyAddresses"] is True


def test_redis_is_copied_every_hour_to_a_volume_of_its_own(prod: Overlay) -> None:
    job = prod.one("CronJob", "redis-backup")["spec"]
    assert re.fullmatch(r"\d+ \* \* \* \*", job["schedule"])
    assert job["concurrencyPolicy"] == "Forbid"
    assert prod.one("CronJob", "redis-restore")["spec"]["suspend"] is True
    claims = {it["metadata"]["name"] for it in prod.all("PersistentVolumeClaim")}
    for name in ("redis-backup", "redis-restore"):
        pod = prod.one("CronJob", name)["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        volumes = [it.get("persistentVolumeClaim", {}) for it in pod["volumes"]]
        assert "redis-backup" in claims & {it.get("claimName") for it in volumes}


def test_redis_fits_its_memory_and_forgets_nothing(overlay: Overlay) -> None:
    pod = overlay.one("StatefulSet", "redis")["spec"]["template"]
    (container,) = (it for it in containers(pod) if it["name"] == "redis")
    conf = redis_conf(overlay)
    limit = quantity(container["resources"]["limits"]["memory"])
    assert int(conf["maxmemory"].removesuffix("mb")) * 2**20 <= 0.7 * limit
    assert conf["maxmemory-policy"] == "noeviction"
    assert conf["disable-thp"] == "yes"


def test_the_users_of_redis_may_do_what_the_readme_says_and_no_more(
    secrets_of: Callable[[str], dict[str, dict[str, str]]],
) -> None:
    readme = (ROOT / "README.md").read_text()
    at_redis, at_sentinels = re.findall(r"^user parlor on >PASSWORD (.*)$", readme, re.MULTILINE)
    for name, more in (("dev", ""), ("prod", " +wait")):
        users = secrets_of(name)["redis"]["users.acl"]
        assert re.search(
            rf"^user parlor on #\w{{64}} {re.escape(at_redis + more)}$", users, re.MULTILINE
        )
        assert "user default off ~* &* +@all\n" in users
    users = secrets_of("prod")["redis"]["sentinels.acl"]
    assert re.search(
        rf"^user parlor on #\w{{64}} {re.escape(at_sentinels)}$", users, re.MULTILINE
    )
    assert "user default off\n" in users
    mounted = {
        volume.get("secret", {}).get("secretName")
        for pod in Overlay("prod").pods
        for volume in pod["spec"]["volumes"]
    }
    assert "redis-operator" in secrets_of("prod"), "for people"
    assert "redis-operator" not in mounted, "and for no pod"
    # Whoever may be anyone may know nothing that is secret.
    for file in ("users.acl", "sentinels.acl"):
        (probe,) = re.findall(r"^user probe .*$", secrets_of("prod")["redis"][file], re.MULTILINE)
        assert "-@all" in probe
        assert "~" not in probe
        may = {"ping", "info", "client|setname", "latency|latest", "sentinel|master"}
        assert set(re.findall(r"\+(\S+)", probe)) <= may
