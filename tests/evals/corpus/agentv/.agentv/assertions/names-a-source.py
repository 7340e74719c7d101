import json

print(json.dumps({"pass": True, "score": 1}))
