"""jedis - Jedis (redis.clients:jedis) talks to the module, unchanged.

Maven downloads Jedis into the test's own folder.  Without a JDK of version 17, Maven or its
repository, the test is skipped, with a message."""

import os
import shutil
import subprocess
from pathlib import Path

from redisrun import Server, case, run, skip

JEDIS = "8.0.2"
for tool in ("javac", "mvn"):
    if not shutil.which(tool):
        skip(f"{tool} is not here (Debian: openjdk-17-jdk-headless, maven)")

Path("pom.xml").write_text(f"""<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>local</groupId><artifactId>local</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>redis.clients</groupId><artifactId>jedis</artifactId><version>{JEDIS}</version>
  </dependency></dependencies>
</project>
""")
copied = subprocess.run(
    ["mvn", "-q", "-B", f"-Dmaven.repo.local={os.getcwd()}/repository",
     "dependency:copy-dependencies", "-DoutputDirectory=jars"],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if copied.returncode:
    print(copied.stdout[-2000:])
    skip(f"Maven cannot download jedis {JEDIS}: no repository?")
server = Server()


@case
def jedis_works_unchanged():
    program = Path(os.environ["SOURCE"]) / "tests/redis/JedisClient.java"
    subprocess.run(["javac", "-cp", "jars/*", "-d", "classes", program], check=True)
    for protocol in (2, 3):
        subprocess.run(["java", "-cp", "classes:jars/*", "JedisClient", str(server.port),
                        str(protocol)], check=True)


with server:
    run(globals())
