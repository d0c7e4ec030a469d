#!/usr/bin/env python3
"""Opens a file with a language server and prints what it finds, a line each.

language_client.py FILE SETTINGS COMMAND...: SETTINGS is what the server reads as its settings, in
JSON. Ends with 1 when the server says nothing of the file within 30 seconds.
"""

import json
import pathlib
import subprocess
import sys
import threading

file, settings, *command = sys.argv[1:]
uri = pathlib.Path(file).resolve().as_uri()
settings = json.loads(settings)
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
late = threading.Timer(30, server.kill)
late.start()


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()


def messages():
    length = 0
    for line in server.stdout:
        name, _, value = line.decode().partition(":")
        if name.lower() == "content-length":
            length = int(value)
        elif not line.strip():
            yield json.loads(server.stdout.read(length))


def setting(section):
    value = settings
    for key in (section or "").split("."):
        value = value.get(key) if key and isinstance(value, dict) else value
    return value


root = pathlib.Path(file).resolve().parent.as_uri()
abilities = {"workspace": {"configuration": True}, "textDocument": {"publishDiagnostics": {}}}
folders = [{"uri": root, "name": "root"}]
send(id=1, method="initialize", params={
    "processId": None, "rootUri": root, "capabilities": abilities, "workspaceFolders": folders})
for message in messages():
    method = message.get("method")
    if message.get("id") == 1 and method is None:
        send(method="initialized", params={})
        send(method="workspace/didChangeConfiguration", params={"settings": settings})
        text = pathlib.Path(file).read_text()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        send(method="textDocument/didOpen", params={"textDocument": document})
    elif method == "workspace/configuration":
        asked = [setting(item.get("section")) for item in message["params"]["items"]]
        send(id=message["id"], result=asked)
    elif method == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
        for found in message["params"]["diagnostics"]:
            line = found["range"]["start"]["line"] + 1
            print(f"{line}: {found.get('code') or found.get('source')}: {found['message']}")
        late.cancel()
        server.kill()
        sys.exit(0)
    elif "id" in message and method:
        send(id=message["id"], result=None)
sys.exit("the server said nothing of the file")
