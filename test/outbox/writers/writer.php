<?php

// Adds rows in random transactions, half of which it rolls back, and writes down in the same transaction what it adds.

[, $url, $prefix, $count] = $argv;
['host' => $host, 'port' => $port, 'user' => $user, 'pass' => $password, 'path' => $path] = parse_url($url);
$name = substr($path, 1);
$adds = [
    ['ticket', "select docket_outbox.add_ticket('written', ?, '{\"by\": \"php\"}')"],
    ['job', "select docket_outbox.add_job('written', ?, '{\"by\": \"php\"}', ttr => '5 min')"],
    ['case', "select docket_outbox.add_case('written', ?, '[]', '{\"by\": \"php\"}')"],
];
$done = 0;
while ($done < $count) {
    try {
        $db = new PDO("pgsql:host=$host;port=$port;dbname=$name", $user, $password);
        while ($done < $count) {
            $from = $done;
            $done = min($count, $done + random_int(1, 20));
            $db->beginTransaction();
            for ($n = $from; $n < $done; $n++) {
                [$kind, $add] = $adds[$n % 3];
                $db->prepare($add)->execute(["$prefix-$n"]);
                $db->prepare('insert into written values (?, ?)')->execute([$kind, "$prefix-$n"]);
            }
            random_int(0, 1) ? $db->commit() : $db->rollBack();
            usleep(random_int(0, 50_000));
        }
    } catch (PDOException) {
        usleep(200_000);
    }
}
