"""Settings shared by all tests."""

import os
import signal

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # tests run side by side; more threads only wait for each other

from hypothesis import settings

from kubeproof.model import plan

# The same examples in every run: a red build must be red again on the next machine.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True, database=None)
settings.load_profile("ci")

# A shell starts background jobs with Ctrl-C ignored, and children inherit that; tests that send it mean it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

plan.CHECKED = True  # loops and events are held to their footprints, and labels that nobody mentions are not read
