// A program over the client that OpenAPI Generator makes for TypeScript. GeneratedClientsTest compiles it, and runs it
// against a server whose URL is the argument. It ends with an error at the first answer that it does not expect.
import { Configuration, JobsApi, QueuesApi, ResponseError, TasksApi, WorkersApi } from './client';
import type { Delivery, JobPatch, Problem, Run } from './client';

declare const process: { argv: string[]; exit(code: number): void };

function same<T>(found: T, expected: T, what: string): void {
  if (found !== expected) {
    throw new Error(`${what}: expected ${String(expected)}, but got ${String(found)}`);
  }
}

function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) {
    throw new Error(`${what} is absent`);
  }
  return value;
}

async function story(basePath: string): Promise<void> {
  const configuration = new Configuration({ basePath });
  const queues = new QueuesApi(configuration);
  const tasks = new TasksApi(configuration);
  const workers = new WorkersApi(configuration);
  const jobs = new JobsApi(configuration);

  // A queue with callbacks. The compiler knows that a delivery over HTTP has a URL.
  const delivery: Delivery = {
    type: 'http',
    url: 'http://127.0.0.1:9/hook',
    secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=',
  };
  const hooks = await queues.putQueue({ queue: 'hooks', queueSettings: { delivery, rate: 2.5, concurrency: 4 } });
  same(hooks.delivery.secret, '***', 'the secret');
  same(hooks.retry.maxAttempts, 5, 'a default');
  const changed = await queues.patchQueue({
    queue: 'hooks',
    queuePatch: { rate: null, delivery: { timeout: '20s' }, retry: null },
  });
  same(changed.rate, undefined, 'the reset rate');
  same(changed.concurrency, 4, 'the concurrency');
  same(changed.delivery.timeout, '20s', 'the timeout');

  // A task.
  const submitted = await tasks.submitTask({
    queue: 'hooks',
    taskSubmission: { delay: '1h', key: 'order-17', payload: { order: 17 } },
  });
  same(submitted.result, 'CREATED', 'the submit');
  const task = await tasks.getTask({ id: submitted.id });
  same(task.generation, submitted.generation, 'the generation');
  same(task.payload.order, 17, 'the payload');
  same(task.dueAt.getTime() > Date.now(), true, 'a due time in the future');
  const batch = await tasks.submitTasks({ queue: 'hooks', batchTask: [{ delay: '2h' }, { key: 'no-due-time' }] });
  const results = batch.map((item) => ('error' in item ? item.error.type : item.result));
  same(results.join(), 'CREATED,urn:foliot:problem:missing-field', 'the batch');
  const counts = await tasks.cancelTasks({ queue: 'hooks', cancelFilter: { all: true } });
  same(counts.cancelled, 2, 'the cancelled tasks');

  // A problem.
  try {
    await queues.getQueue({ queue: 'absent' });
    throw new Error('an absent queue was found');
  } catch (failure) {
    if (!(failure instanceof ResponseError)) {
      throw failure;
    }
    const problem = (await failure.response.json()) as Problem;
    same(problem.type, 'urn:foliot:problem:unknown-queue', 'the problem');
  }

  // A job, and a patch that resets some of its fields.
  await queues.putQueue({ queue: 'work', queueSettings: { delivery: { type: 'pull', timeout: '30s' } } });
  const put = await jobs.putJob({
    job: 'nightly',
    jobSettings: {
      queue: 'work',
      schedule: { cron: '0 2 * * *', dialect: 'unix', zone: 'Europe/Berlin' },
      timeout: '5m',
      misfire: { policy: 'all', max: 3 },
      runListeners: ['after'],
    },
  });
  same(put.timeout, '5m', 'the timeout of the job');
  const patch: JobPatch = {
    timeout: null,
    misfire: null,
    runListeners: null,
    schedule: { cron: null, every: '2h', from: new Date('2020-01-01T00:00:00Z') },
  };
  const patched = await jobs.patchJob({ job: 'nightly', jobPatch: patch });
  same(patched.timeout, undefined, 'the reset timeout');
  same(patched.misfire?.policy, 'once', 'the reset policy');
  same(patched.schedule?.every, '2h', 'the schedule');
  same(patched.schedule?.from?.toISOString(), '2020-01-01T00:00:00.000Z', 'an instant');

  // A run.
  same((await jobs.triggerJob({ job: 'nightly' })).result, 'ACCEPTED', 'the request');
  const claimed = await workers.claimTasks({ queue: 'work', claimOptions: { wait: '20s', lease: '30s' } });
  const shard = present(claimed.tasks[0], 'the shard');
  const runs: Run[] = (await jobs.listRuns({ job: 'nightly' })).runs;
  const run = present(runs[0], 'the run');
  same(run.result, 'RUNNING', 'the run');
  const details = await jobs.getRun({ job: 'nightly', time: run.time.toISOString() });
  same(details.shards[0]?.task, shard.id, 'the task of the shard');
  same((await workers.ackTask({ id: shard.id, ackReport: { token: shard.token } })).state, 'FINISHED', 'the report');

  // The end.
  same((await jobs.deleteJob({ job: 'nightly', runs: 'cancel' })).result, 'DELETED', 'the job');
  for (const queue of ['hooks', 'work']) {
    same((await queues.deleteQueue({ queue })).result, 'DELETED', 'the queue');
  }
}

story(present(process.argv[2], 'the URL')).catch(async (failure) => {
  console.error(failure, failure instanceof ResponseError ? await failure.response.text() : '');
  process.exit(1);
});
