#!/usr/bin/env python3
"""Types a line and a tabulator into an interactive bash of a system below ROOT, and prints what the terminal shows.

usage: type_tab.py ROOT LINE
"""
import os
import pty
import select
import sys
import time


def read(terminal, seconds):
    """What comes until nothing has come for half a second, at most so long."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.5 if text else seconds)
        if not ready:
            break
        text += os.read(terminal, 4096)
    return text


def main():
    root, line = sys.argv[1:]
    child, terminal = pty.fork()
    if child == 0:
        os.chroot(root)
        os.chdir("/root")
        os.execve("/bin/bash", ["bash", "--norc", "-i"], {"HOME": "/root", "TERM": "dumb", "PS1": "$ ", "LANG": "C.UTF-8",
                                                          "PATH": "/usr/local/bin:/usr/bin:/bin"})
    read(terminal, 10)
    os.write(terminal, b". /usr/share/bash-completion/bash_completion\n")
    read(terminal, 20)
    os.write(terminal, line.encode() + b"\t")
    print(read(terminal, 60).decode("utf-8", "replace"))
    os.write(terminal, b"\x03exit\n")
    os.close(terminal)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
