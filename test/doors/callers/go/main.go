// A worker of somebody else in Go, whose workflow asks Docket by Nexus and waits.
package main

import (
	"fmt"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Ask has the operation's result as its own.
func Ask(ctx workflow.Context, endpoint string, operation string, input map[string]any) (map[string]any, error) {
	docket := workflow.NewNexusClient(endpoint, "docket")
	var outcome map[string]any
	err := docket.ExecuteOperation(ctx, operation, input, workflow.NexusOperationOptions{}).Get(ctx, &outcome)
	return outcome, err
}

func main() {
	options := client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE")}
	c, err := client.Dial(options)
	if err != nil {
		panic(err)
	}
	w := worker.New(c, "go", worker.Options{})
	w.RegisterWorkflowWithOptions(Ask, workflow.RegisterOptions{Name: "ask"})
	fmt.Println("ready")
	if err := w.Run(worker.InterruptCh()); err != nil {
		panic(err)
	}
}
