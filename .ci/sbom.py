"""A bill of materials (CycloneDX 1.6) of what the program is built of.

In: the output of `cargo metadata` for one platform on stdin, and Cargo.lock by name for the sums.
Out: JSON on stdout, the same for the same lock file: no time and no random number. Crates that only
tests and benchmarks use are left out.
"""

import json
import sys
import tomllib

metadata = json.load(sys.stdin)
with open(sys.argv[1], "rb") as file:
    sums = {
        (package["name"], package["version"]): package.get("checksum")
        for package in tomllib.load(file)["package"]
    }
packages = {package["id"]: package for package in metadata["packages"]}
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
root = metadata["resolve"]["root"]


def used(identity):
    """What a package needs to be built and to run."""
    return [
        dependency["pkg"]
        for dependency in nodes[identity]["deps"]
        if any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"])
    ]


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, kind):
    own = {
        "type": kind,
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["license"]:
        # `A/B` is an old spelling of `A OR B`.
        own["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if total := sums.get((package["name"], package["version"])):
        own["hashes"] = [{"alg": "SHA-256", "content": total}]
    return own


reached, waiting = set(), [root]
while waiting:
    identity = waiting.pop()
    if identity not in reached:
        reached.add(identity)
        waiting.extend(used(identity))
order = sorted(reached, key=lambda identity: purl(packages[identity]))
bill = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "version": 1,
    "metadata": {"component": component(packages[root], "application")},
    "components": [component(packages[one], "library") for one in order if one != root],
    "dependencies": [
        {
            "ref": purl(packages[one]),
            "dependsOn": sorted({purl(packages[other]) for other in used(one)}),
        }
        for one in order
    ],
}
json.dump(bill, sys.stdout, indent=1)
print()
