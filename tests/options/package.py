"""package - a row in the option table makes a keyword argument in the Python package, without any
other code."""

import pydeja

import deja
from deja import _server

KEYS = [f"key {i}" for i in range(3000)]
nine, two = (deja.Filter(capacity=100, **more) for more in ({"trial_steps": 9}, {}))
for seen in (nine, two):
    seen.add_many(KEYS)
assert nine.stats().parts < two.stats().parts, (nine.stats().parts, two.stats().parts)
assert "trial_steps       try T times, or give memory" in deja.Filter.__doc__, deja.Filter.__doc__
for wrong, error in ((1, deja.ArgumentError), (100, deja.ArgumentError), (2.5, deja.ArgumentError), ("5", TypeError)):
    try:
        deja.plan(capacity=100, trial_steps=wrong)
    except error as reason:
        assert "trial_steps" in str(reason), reason
    else:
        raise AssertionError(f"trial_steps={wrong!r} was accepted")
command = _server.reserve("x", {"capacity": 100, "trial_steps": 9})
assert command[command.index(b"TRIALSTEPS") + 1] == 9, command
