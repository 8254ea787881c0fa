#!/usr/bin/env python3
"""Checks packaging/ and monitoring/ with the programs that read them: promtool, systemd-analyze, Helm, YAML.

Needs helm-python-sdk and pyyaml. promtool is taken out of Debian's package `prometheus` if it is not installed.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import helm_python.chart as helm
import yaml

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
CHART = "packaging/helm/kontor"


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def promtool():
    if found := shutil.which("promtool"):
        return found
    folder = os.path.abspath("target/prometheus")
    if not os.path.exists(f"{folder}/usr/bin/promtool"):
        with tempfile.TemporaryDirectory() as download:
            run("apt-get", "update", "-qq")
            run("apt-get", "download", "-qq", "prometheus", cwd=download)
            run("dpkg-deb", "-x", *glob.glob(f"{download}/*.deb"), folder)
    return f"{folder}/usr/bin/promtool"


def alerts():
    tool = promtool()
    run(tool, "check", "rules", "alerts.yml", cwd="monitoring")
    run(tool, "test", "rules", "alerts_test.yml", cwd="monitoring")
    with open("monitoring/dashboard.json") as file:
        panels = yaml.safe_load(file)["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    queries = [query.replace("$__rate_interval", "5m").replace("$job", "kontor") for query in queries]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
        yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        run(tool, "check", "rules", file.name)
    return f"alert rules pass their tests, {len(queries)} queries of the dashboard are valid"


def units():
    worst = 0.0
    for unit in glob.glob("packaging/systemd/*.service"):
        text = run("systemd-analyze", "security", "--offline=yes", os.path.abspath(unit))
        worst = max(worst, float(re.search(r"exposure level for .*?: ([\d.]+)", text)[1]))
    assert 0 < worst <= 2.0, f"exposure of a unit: {worst}"
    return f"exposure of the units: at most {worst}"


def chart():
    report = helm.lint(CHART)
    faults = [message for message in report["messages"] if message["severity"] > 1]
    assert not faults and not report["errors"], report
    kinds = set()
    for values in (
        {},
        {"ingress": {"enabled": True, "className": "nginx", "tlsSecret": "tls", "annotations": {"a": "b"}}},
        {"imports": {"existingClaim": "own"}, "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}}},
        {"imagePullSecrets": [{"name": "registry"}], "image": {"tag": "1"}},
    ):
        rendered = helm.Chart.load(CHART).render(values, name="shop", namespace="trade")
        for name, text in rendered.items():
            for resource in yaml.safe_load_all(text) if name.endswith(".yaml") else []:
                if resource is None:
                    continue
                kinds.add(resource["kind"])
                pod = resource.get("spec", {}).get("template", {}).get("spec")
                for container in pod["containers"] if pod else []:
                    assert container["securityContext"]["readOnlyRootFilesystem"], name
                    assert pod["securityContext"]["runAsNonRoot"] and pod["enableServiceLinks"] is False, name
                    mounted = {mount["name"] for mount in container["volumeMounts"]}
                    assert mounted == {volume["name"] for volume in pod["volumes"]}, name
    expected = {"Deployment", "Job", "Service", "PodDisruptionBudget", "PersistentVolumeClaim", "Ingress", "PodMonitor"}
    assert kinds == expected, kinds
    return f"the chart renders {len(kinds)} kinds of resources"


def compose():
    with open("packaging/compose.yaml") as file:
        services = yaml.safe_load(file)["services"]
    own = {name: service for name, service in services.items() if "kontor" in service["image"] and "read_only" in service}
    assert set(own) == {"serve-1", "serve-2", "worker", "migrate"}, own.keys()
    for name, service in services.items():
        for needed in service.get("depends_on", []):
            assert needed in services, f"{name} needs {needed}"
    return f"{len(services)} services of compose.yaml"


for check in (alerts, units, chart, compose):
    print(check())
