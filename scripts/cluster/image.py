"""
Writes an archive as `docker save` does. usage: image.py NAME:TAG[,NAME:TAG…] OUT.tar [--entrypoint WORD] LAYER…
A layer is a tar file, or FOLDER=PATH: that folder becomes PATH, owned by root.
"""
import hashlib, io, json, os, sys, tarfile

names, out, *layers = sys.argv[1:]
entrypoint = None
if layers[0] == "--entrypoint":
    entrypoint, layers = [layers[1]], layers[2:]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def owned_by_root(info):
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def layer_of(given, index):
    """The path of a layer's tar file, and whether it is ours to remove."""
    if "=" not in given:
        return given, False
    folder, below = given.split("=", 1)
    path = f"{out}.layer{index}"
    with tarfile.open(path, "w") as tar:
        tar.add(folder, below.strip("/") or ".", filter=owned_by_root)
    return path, True


files = [layer_of(given, index) for index, given in enumerate(layers)]
config = json.dumps({
    "architecture": "amd64",
    "os": "linux",
    "config": {
        "Entrypoint": entrypoint,
        "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "NODE_ENV=production", "GALLEY_HOME=/data"],
        "WorkingDir": "/",
    },
    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + sha256(path) for path, _ in files]},
}).encode()
digest = hashlib.sha256(config).hexdigest()


def add(tar, path, content):
    info = tarfile.TarInfo(path)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


with tarfile.open(out + ".new", "w") as tar:
    inside = [f"{index}/layer.tar" for index in range(len(files))]
    for (path, _), within in zip(files, inside):
        tar.add(path, within)
    add(tar, f"{digest}.json", config)
    add(tar, "manifest.json", json.dumps([{"Config": f"{digest}.json", "RepoTags": names.split(","), "Layers": inside}]).encode())
os.rename(out + ".new", out)
for path, ours in files:
    if ours:
        os.unlink(path)
