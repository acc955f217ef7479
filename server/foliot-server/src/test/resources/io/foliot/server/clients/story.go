// A program over the client that OpenAPI Generator makes for Go. GeneratedClientsTest compiles it, and runs it against
// a server whose URL is the argument. It ends with an error at the first answer that it does not expect.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"foliot"
)

func must(err error) {
	if err != nil {
		var failure *foliot.GenericOpenAPIError
		if errors.As(err, &failure) {
			err = fmt.Errorf("%w: %s", err, failure.Body())
		}
		panic(err)
	}
}

func same(found, expected interface{}, what string) {
	if found != expected {
		panic(fmt.Sprintf("%s: expected %v, but got %v", what, expected, found))
	}
}

func main() {
	ctx := context.Background()
	configuration := foliot.NewConfiguration()
	configuration.Servers = foliot.ServerConfigurations{{URL: os.Args[1]}}
	client := foliot.NewAPIClient(configuration)
	queues, tasks, workers, jobs := client.QueuesAPI, client.TasksAPI, client.WorkersAPI, client.JobsAPI

	// A queue with callbacks.
	http := foliot.NewHttpDelivery("http", "http://127.0.0.1:9/hook")
	http.SetSecret("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	settings := foliot.NewQueueSettings(foliot.HttpDeliveryAsDelivery(http))
	settings.SetRate(2.5)
	settings.SetConcurrency(4)
	hooks, _, err := queues.PutQueue(ctx, "hooks").QueueSettings(*settings).Execute()
	must(err)
	same(hooks.Delivery.GetSecret(), "***", "the secret")
	same(hooks.Retry.MaxAttempts, int32(5), "a default")
	delivery := foliot.NewDeliveryPatch()
	delivery.SetTimeout("20s")
	queuePatch := foliot.NewQueuePatch()
	queuePatch.SetRateNil()
	queuePatch.SetRetryNil()
	queuePatch.SetDelivery(*delivery)
	changed, _, err := queues.PatchQueue(ctx, "hooks").QueuePatch(*queuePatch).Execute()
	must(err)
	same(changed.HasRate(), false, "the reset rate")
	same(changed.GetConcurrency(), int32(4), "the concurrency")
	same(changed.Delivery.Timeout, "20s", "the timeout")

	// A task.
	submission := foliot.NewTaskSubmission()
	submission.SetDelay("1h")
	submission.SetKey("order-17")
	submission.SetPayload(map[string]interface{}{"order": 17})
	submitted, _, err := tasks.SubmitTask(ctx, "hooks").TaskSubmission(*submission).Execute()
	must(err)
	same(submitted.Result, "CREATED", "the submit")
	task, _, err := tasks.GetTask(ctx, submitted.Id).Execute()
	must(err)
	same(task.Generation, submitted.Generation, "the generation")
	same(task.Payload.(map[string]interface{})["order"], float64(17), "the payload")
	same(task.DueAt.After(time.Now()), true, "a due time in the future")
	valid, invalid := foliot.NewBatchTask(), foliot.NewBatchTask()
	valid.SetDelay("2h")
	invalid.SetKey("no-due-time")
	batch, _, err := tasks.SubmitTasks(ctx, "hooks").BatchTask([]foliot.BatchTask{*valid, *invalid}).Execute()
	must(err)
	same(batch[0].SubmittedTask.Result, "CREATED", "the batch")
	same(batch[1].RefusedTask.Error.Type, "urn:foliot:problem:missing-field", "the batch")
	filter := foliot.NewCancelFilter()
	filter.SetAll(true)
	counts, _, err := tasks.CancelTasks(ctx, "hooks").CancelFilter(*filter).Execute()
	must(err)
	same(counts.Cancelled, int32(2), "the cancelled tasks")

	// A problem.
	_, _, err = queues.GetQueue(ctx, "absent").Execute()
	var failure *foliot.GenericOpenAPIError
	same(errors.As(err, &failure), true, "the failure")
	same(failure.Model().(foliot.Problem).Type, "urn:foliot:problem:unknown-queue", "the problem")

	// A job, and a patch that resets some of its fields.
	pull := foliot.NewPullDelivery("pull")
	work := foliot.NewQueueSettings(foliot.PullDeliveryAsDelivery(pull))
	_, _, err = queues.PutQueue(ctx, "work").QueueSettings(*work).Execute()
	must(err)
	schedule := foliot.NewSchedule()
	schedule.SetCron("0 2 * * *")
	schedule.SetDialect("unix")
	schedule.SetZone("Europe/Berlin")
	misfire := foliot.NewMisfire()
	misfire.SetPolicy("all")
	misfire.SetMax(3)
	job := foliot.NewJobSettings("work", *schedule)
	job.SetTimeout("5m")
	job.SetMisfire(*misfire)
	job.SetRunListeners([]string{"after"})
	put, _, err := jobs.PutJob(ctx, "nightly").JobSettings(*job).Execute()
	must(err)
	same(put.GetTimeout(), "5m", "the timeout of the job")
	every := foliot.NewSchedulePatch()
	every.SetCronNil()
	every.SetEvery("2h")
	every.SetFrom(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	jobPatch := foliot.NewJobPatch()
	jobPatch.SetTimeoutNil()
	jobPatch.SetMisfireNil()
	jobPatch.SetSchedule(*every)
	patched, _, err := jobs.PatchJob(ctx, "nightly").JobPatch(*jobPatch).Execute()
	must(err)
	same(patched.HasTimeout(), false, "the reset timeout")
	same(patched.Misfire.GetPolicy(), "once", "the reset policy")
	same(patched.Schedule.GetEvery(), "2h", "the schedule")
	same(patched.Schedule.GetFrom().Year(), 2020, "an instant")

	// A run.
	// This client sends null for a body that is optional and absent, which the server refuses, so it gets an empty one.
	requested, _, err := jobs.TriggerJob(ctx, "nightly").TriggerOptions(*foliot.NewTriggerOptions()).Execute()
	must(err)
	same(requested.Result, "ACCEPTED", "the request")
	options := foliot.NewClaimOptions()
	options.SetWait("20s")
	options.SetLease("30s")
	claimed, _, err := workers.ClaimTasks(ctx, "work").ClaimOptions(*options).Execute()
	must(err)
	same(len(claimed.Tasks), 1, "the claimed tasks")
	shard := claimed.Tasks[0]
	runs, _, err := jobs.ListRuns(ctx, "nightly").Execute()
	must(err)
	same(runs.Runs[0].Result, "RUNNING", "the run")
	details, _, err := jobs.GetRun(ctx, "nightly", runs.Runs[0].Time.Format(time.RFC3339Nano)).Execute()
	must(err)
	same(details.Shards[0].GetTask(), shard.Id, "the task of the shard")
	settled, _, err := workers.AckTask(ctx, shard.Id).AckReport(*foliot.NewAckReport(shard.Token)).Execute()
	must(err)
	same(string(settled.State), "FINISHED", "the report")

	// The end.
	deleted, _, err := jobs.DeleteJob(ctx, "nightly").Runs("cancel").Execute()
	must(err)
	same(deleted.Result, "DELETED", "the job")
	for _, queue := range []string{"hooks", "work"} {
		deleted, _, err := queues.DeleteQueue(ctx, queue).Execute()
		must(err)
		same(deleted.Result, "DELETED", "the queue")
	}
}
