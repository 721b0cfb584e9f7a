"""A process that has nafs imported and forks to run commands, so that a kill never falls into the imports.

Reads one JSON list of words a line; writes the pid of the command, and its exit status when it has ended.
Stderr of the command goes into the file that is named first.
"""

import json
import os
import sys


def main():
    import nafs.cli.app
    import nafs.cli.main
    import nafs.embedding
    import nafs.engines.disk
    import nafs.graph
    import nafs.model.new_rows
    import nafs.readers
    import nafs.writers

    print("ready", flush=True)
    for line in sys.stdin:
        errors, *words = json.loads(line)
        pid = os.fork()
        if pid == 0:
            target = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(target, 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            try:
                nafs.cli.main.main(words)
            except SystemExit as end:
                os._exit(end.code if isinstance(end.code, int) else int(bool(end.code)))
            os._exit(0)
        print(pid, flush=True)
        status = os.waitpid(pid, 0)[1]
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
