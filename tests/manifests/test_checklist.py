"""What we ask of a deployment beyond that it is valid."""

import re

import pytest

from rendered import KUBERNETES, ROOT, Overlay, quantity


def test_instances_are_many_and_only_the_autoscaler_says_how_many(overlay: Overlay) -> None:
    assert "replicas" not in overlay.deployment
    scaler = overlay.one("HorizontalPodAutoscaler")["spec"]
    assert scaler["scaleTargetRef"] == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": overlay.one("Deployment")["metadata"]["name"],
    }
    if overlay.name == "prod":
        assert scaler["minReplicas"] >= 3


def test_the_autoscaler_adds_fast_and_removes_slowly(overlay: Overlay) -> None:
    scaler = overlay.one("HorizontalPodAutoscaler")["spec"]
    (metric,) = scaler["metrics"]
    assert metric["resource"]["name"] == "cpu"
    assert metric["resource"]["target"] == {"type": "Utilization", "averageUtilization": 60}
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


def test_an_instance_has_the_time_that_it_takes_to_stop(overlay: Overlay) -> None:
    sleep = overlay.container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = overlay.one("ConfigMap")["data"]["PARLOR_DRAIN"]
    assert sleep == 5
    assert sleep + int(drain.removesuffix("s")) + 5 <= overlay.pod["terminationGracePeriodSeconds"]
    assert overlay.pod["terminationGracePeriodSeconds"] == 40


def test_what_containers_may_use_is_bounded(overlay: Overlay) -> None:
    for pod in overlay.pods:
        for container in pod["spec"]["containers"]:
            limits, requests = (container["resources"][key] for key in ("limits", "requests"))
            assert quantity(requests["cpu"]) > 0
            assert "cpu" not in limits, "nobody is throttled"
            assert quantity(limits["memory"]) <= 2 * quantity(requests["memory"])
            assert limits["ephemeral-storage"]
            assert requests["ephemeral-storage"]


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
        for container in spec["containers"] + spec.get("initContainers", []):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


def test_production_gives_instances_users_of_their_own(prod: Overlay) -> None:
    assert prod.pod["hostUsers"] is False


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
    if overlay.name == "prod":
        assert zone["whenUnsatisfiable"] == "DoNotSchedule"


def test_production_goes_before_what_can_wait(prod: Overlay) -> None:
    classes = {it["metadata"]["name"] for it in prod.all("PriorityClass")}
    assert all(pod["spec"]["priorityClassName"] in classes for pod in prod.pods)


def test_disruptions_take_one_instance_at_a_time(overlay: Overlay) -> None:
    budget = overlay.one("PodDisruptionBudget")["spec"]
    assert budget["maxUnavailable"] == 1
    assert budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    labels = overlay.deployment["template"]["metadata"]["labels"]
    assert budget["selector"]["matchLabels"].items() <= labels.items()


def test_another_setting_is_another_roll_out(overlay: Overlay) -> None:
    names = {it["metadata"]["name"] for it in overlay.all("ConfigMap")}
    assert all(re.search(r"-[a-z0-9]{10}$", name) for name in names)
    (source,) = overlay.container["envFrom"]
    assert source["configMapRef"]["name"] in names


def test_secrets_are_files_that_others_cannot_read(overlay: Overlay) -> None:
    assert not overlay.all("Secret"), "secrets are not in the repository"
    for pod in overlay.pods:
        for container in pod["spec"]["containers"]:
            mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
            assert "secretKeyRef" not in str(container)
            assert "secretRef" not in str(container)
        secrets = [it for it in pod["spec"]["volumes"] if "secret" in it]
        assert secrets
        for volume in secrets:
            assert volume["secret"]["defaultMode"] == 0o400
            assert mounts[volume["name"]]["readOnly"] is True


def test_settings_name_files_of_the_secret(overlay: Overlay) -> None:
    (mount,) = overlay.container["volumeMounts"]
    data = overlay.one("ConfigMap")["data"]
    named = {value for value in data.values() if value.startswith("@")}
    keys = ("store", "token-keys", "api-keys")
    assert named == {f"@{mount['mountPath']}/{key}" for key in keys}


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
        assert port["appProtocol"] == "kubernetes.io/h2c"
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


def test_nobody_may_talk_to_anybody_but_for_what_is_listed(overlay: Overlay) -> None:
    policies = {it["metadata"]["name"]: it["spec"] for it in overlay.all("NetworkPolicy")}
    both = ["Ingress", "Egress"]
    assert policies.pop("nobody") == {"podSelector": {}, "policyTypes": both}
    assert set(policies) == {"parlor", "redis"}
    assert all(policy["policyTypes"] == both for policy in policies.values())
    for policy in policies.values():
        for rule in [*policy["ingress"], *policy["egress"]]:
            assert rule.get("from") or rule.get("to"), "a rule without peers is for everyone"
            assert rule["ports"]
            assert {} not in rule.get("from", []) + rule.get("to", [])


def test_instances_are_called_by_the_gateway_and_prometheus_and_call_redis_and_dns(
    overlay: Overlay,
) -> None:
    policy = overlay.one("NetworkPolicy")["spec"]
    callers = {
        port["port"]: peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
        for rule in policy["ingress"]
        for port in rule["ports"]
        for peer in rule["from"]
    }
    assert callers == {"grpc": "envoy-gateway-system", "admin": "monitoring"}
    ports = [port["port"] for rule in policy["egress"] for port in rule["ports"]]
    assert ports == [6379, 53, 53]


def test_redis_is_called_by_instances_and_calls_nobody(overlay: Overlay) -> None:
    policy = overlay.one("NetworkPolicy", "redis")["spec"]
    ((peer,),) = (rule["from"] for rule in policy["ingress"])
    labels = overlay.deployment["template"]["metadata"]["labels"]
    assert peer["podSelector"]["matchLabels"].items() <= labels.items()
    assert policy["egress"] == []


def redis_conf(overlay: Overlay) -> dict[str, str]:
    """The settings of Redis."""
    lines = overlay.one("ConfigMap", "redis")["data"]["redis.conf"].splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def test_redis_keeps_what_it_acknowledged(overlay: Overlay) -> None:
    spec = overlay.one("StatefulSet", "redis")["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    conf = redis_conf(overlay)
    (container,) = spec["template"]["spec"]["containers"]
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


def test_redis_fits_its_memory_and_forgets_nothing(overlay: Overlay) -> None:
    (container,) = overlay.one("StatefulSet", "redis")["spec"]["template"]["spec"]["containers"]
    conf = redis_conf(overlay)
    limit = quantity(container["resources"]["limits"]["memory"])
    assert int(conf["maxmemory"].removesuffix("mb")) * 2**20 <= 0.7 * limit
    assert conf["maxmemory-policy"] == "noeviction"
    assert conf["disable-thp"] == "yes"


def test_the_user_for_redis_may_do_what_the_readme_says_and_no_more() -> None:
    readme = (ROOT / "README.md").read_text()
    # The first one; the other is for sentinels.
    rights = re.findall(r"^user parlor on >PASSWORD (.*)$", readme, re.MULTILINE)[0]
    secrets = (KUBERNETES / "secrets").read_text()
    assert f"user parlor on #$hash {rights}\n" in secrets
    assert "user default off ~* &* +@all\n" in secrets
