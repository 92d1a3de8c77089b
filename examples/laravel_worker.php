<?php

// Laravel's queue on Docket, unchanged: its beanstalkd connection, its dispatch with a delay, its worker with retries. In an
// application the connection stands in config/queue.php, and `php artisan queue:work docket` is the worker.

use Illuminate\Bus\Dispatcher;
use Illuminate\Bus\Queueable;
use Illuminate\Container\Container;
use Illuminate\Contracts\Bus\Dispatcher as BusDispatcher;
use Illuminate\Contracts\Container\Container as ContainerContract;
use Illuminate\Contracts\Debug\ExceptionHandler;
use Illuminate\Contracts\Events\Dispatcher as EventDispatcher;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Events\Dispatcher as Events;
use Illuminate\Queue\Capsule\Manager as Queue;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\Worker;
use Illuminate\Queue\WorkerOptions;

foreach ([__DIR__ . '/vendor/autoload.php', '/usr/share/php/Illuminate/Queue/autoload.php'] as $file) {
    if (is_file($file)) {
        require_once $file;
        break;
    }
}
// of Debian's packages each has its own
foreach (['Illuminate/Bus', 'Illuminate/Events', 'Pheanstalk'] as $package) {
    if (!is_dir(__DIR__ . '/vendor') && is_file("/usr/share/php/$package/autoload.php")) {
        require_once "/usr/share/php/$package/autoload.php";
    }
}

/** Fails the first time for one customer, as a mail server does now and then. */
final class SendReceipt implements ShouldQueue
{
    use InteractsWithQueue;
    use Queueable;

    public static int $sent = 0;

    public int $tries = 3;
    public int $backoff = 1;

    public function __construct(private string $customer)
    {
    }

    public function handle(): void
    {
        if ($this->customer === 'ben' && $this->attempts() === 1) {
            throw new RuntimeException('the mail server does not answer');
        }
        self::$sent++;
        echo "receipt for {$this->customer}, attempt {$this->attempts()}\n";
    }
}

$app = new Container();
$app->instance(ContainerContract::class, $app);
$app->singleton(ExceptionHandler::class, fn () => new class implements ExceptionHandler {
    public function report(Throwable $e): void
    {
        echo "failed: {$e->getMessage()}\n";
    }

    public function shouldReport(Throwable $e): bool
    {
        return true;
    }

    public function render($request, Throwable $e)
    {
    }

    public function renderForConsole($output, Throwable $e): void
    {
    }
});
$app->singleton(EventDispatcher::class, fn () => new Events($app));
$app->alias(EventDispatcher::class, 'events');

$queue = new Queue($app);
$queue->addConnection([
    'driver' => 'beanstalkd',
    'host' => getenv('DOCKET_HOST') ?: '127.0.0.1',
    'port' => (int) (getenv('BEANSTALKD_PORT') ?: 11300),
    'queue' => 'receipts',
    'retry_after' => 90,
    'block_for' => 1,
], 'docket');
$manager = $queue->getQueueManager();
$app->singleton(BusDispatcher::class, fn () => new Dispatcher($app, fn () => $manager->connection('docket')));

foreach (['anna', 'ben'] as $customer) {
    $manager->connection('docket')->push(new SendReceipt($customer));
}
$manager->connection('docket')->later(2, new SendReceipt('cem'));
echo "three receipts are queued, one of them for in two seconds\n";

$worker = new Worker($manager, $app[EventDispatcher::class], $app[ExceptionHandler::class], fn () => false);
$once = in_array('--once', $argv, true);
while (!$once || SendReceipt::$sent < 3) {
    $worker->runNextJob('docket', 'receipts', new WorkerOptions('docket', 1));
}
