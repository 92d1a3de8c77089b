<?php
// One worker's day with Pheanstalk 4. Prints what it saw, numbers of jobs aside.
error_reporting(E_ALL & ~E_DEPRECATED);
require '/usr/share/php/Pheanstalk/autoload.php';

$client = Pheanstalk\Pheanstalk::create('127.0.0.1', (int) $argv[1]);
$seen = [];
$client->useTube('pheanstalk')->watchOnly('pheanstalk');
$client->put('Grüße', 10, 0, 60);
$job = $client->reserveWithTimeout(5);
$seen[] = $job->getData();
$client->touch($job);
$client->release($job, 5, 0);
$stats = $client->statsJob($job);
$seen[] = [trim($stats['tube'], '"'), $stats['state'], $stats['pri'], $stats['ttr'], $stats['reserves'], $stats['releases']];
$job = $client->reserve();
$client->bury($job, 7);
$seen[] = [$client->peekBuried()->getData(), $client->kick(10)];
$client->delete($client->reserve());
$client->put('later', 1024, 1);
$job = $client->reserveWithTimeout(5);
$seen[] = $job->getData();
$client->delete($job);
try {
    $client->delete($job);
} catch (Pheanstalk\Exception\ServerException $error) {
    $seen[] = 'not found';
}
$seen[] = $client->reserveWithTimeout(0);
$stats = $client->statsTube('pheanstalk');
$seen[] = [trim($stats['name'], '"'), $stats['total-jobs'], $stats['cmd-delete'], $stats['current-using']];
$seen[] = [in_array('pheanstalk', $client->listTubes(), true), $client->listTubeUsed(), $client->listTubesWatched()];
$binary = implode('', array_map('chr', range(0, 255)));
$client->put($binary);
$job = $client->reserve();
$seen[] = $job->getData() === $binary;
$client->delete($job);
echo json_encode($seen), "\n";
