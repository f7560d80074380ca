"""paths - every step `file.c:function` in docs/internals.md names a function in that file."""

import os
import re
import sys
from pathlib import Path

root = Path(os.environ["SOURCE"])
places = ["src", "tools", "cli", "redis", "crawler", "gen", "bench", "lab"]
files = {path.name: path for place in places for path in (root / place).rglob("*.c")}
hops = re.findall(r"\b(\w+\.c):(\w+)", (root / "docs" / "internals.md").read_text())
wrong = [f"{name}:{function}" for name, function in hops if name not in files or
         not re.search(rf"^[a-z].*\b{function}\(", files[name].read_text(), re.M)]
print("\n".join(f"docs/internals.md: no function {hop}" for hop in wrong) or f"{len(hops)} hops")
sys.exit(1 if wrong or len(hops) < 20 else 0)
