"""docs - the Python in docs/python.md runs unchanged, in order."""

import re

import pydeja

text = (pydeja.SOURCE / "docs" / "python.md").read_text()
blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)
assert blocks
names = {}
for number, block in enumerate(blocks, 1):
    exec(compile(block, f"docs/python.md, block {number}", "exec"), names)
print(len(blocks), "blocks ran")
