"""Names the public symbols in symbol graphs that have no documentation; exit status 1 when there are any."""
import json, sys

missing, total = [], 0
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for symbol in json.load(file)["symbols"]:
            total += 1
            if not symbol.get("docComment", {}).get("lines"):
                where = symbol.get("location", {})
                place = where.get("uri", "?").rsplit("/Sources/", 1)[-1]
                missing.append(f"{place}:{where.get('position', {}).get('line', 0) + 1}: {'.'.join(symbol['pathComponents'])}")
print(f"{total} public symbols, {len(missing)} without documentation")
for line in missing:
    print(line, file=sys.stderr)
sys.exit(1 if missing else 0)
