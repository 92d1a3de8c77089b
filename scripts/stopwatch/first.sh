api=$DOCKET_SERVERS/v1
json='content-type: application/json'
curl -fsS "$api/queues/stopwatch/tickets" -H "$json" -d '{"id": "by-curl", "body": {"text": "buy now"}}' >/dev/null
claim=$(curl -fsS "$api/queues/stopwatch/claim" -H "$json" -d '{"reviewer": "anna"}')
token=$(echo "$claim" | sed 's/.*"token":"\([^"]*\)".*/\1/')
curl -fsS "$api/tickets/by-curl/decide" -H "$json" -d "{\"token\": \"$token\", \"decision\": {\"remove\": true}}"
