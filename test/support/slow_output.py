"""Runs a program whose output is slow, so that each write takes long enough for other threads: slow_output.py FILE ARGS"""

import runpy
import sys
import time


class Slow:
    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        self._stream.write(text)
        self._stream.flush()
        time.sleep(0.05)

    def flush(self):
        self._stream.flush()


sys.stdout = Slow(sys.stdout)
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
