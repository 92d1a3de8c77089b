"""Adds rows in random transactions, half of which it rolls back, and writes down in the same transaction what it adds."""

import random
import sys
import time

import psycopg

url, prefix, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
ADDS = [
    ("ticket", "select docket_outbox.add_ticket('written', %s, '{\"by\": \"python\"}')"),
    ("job", "select docket_outbox.add_job('written', %s, '{\"by\": \"python\"}', ttr => '5 min')"),
    ("case", "select docket_outbox.add_case('written', %s, '[]', '{\"by\": \"python\"}')"),
]
done = 0
while done < count:
    try:
        with psycopg.connect(url) as connection:
            while done < count:
                rows = range(done, min(count, done + random.randint(1, 20)))
                done = rows.stop
                with connection.transaction(force_rollback=random.random() < 0.5):
                    for n in rows:
                        kind, add = ADDS[n % 3]
                        connection.execute(add, (f"{prefix}-{n}",))
                        connection.execute("insert into written values (%s, %s)", (kind, f"{prefix}-{n}"))
                time.sleep(random.random() / 20)
    except psycopg.OperationalError:
        time.sleep(0.2)
