import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import io.temporal.worker.WorkerFactory;
import io.temporal.workflow.NexusServiceOptions;
import io.temporal.workflow.Workflow;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;
import java.util.Map;

/** A worker of somebody else in Java, whose workflow asks Docket by Nexus and waits. */
public class Caller {
  @WorkflowInterface
  public interface Ask {
    @WorkflowMethod(name = "ask")
    Map<String, Object> ask(String endpoint, String operation, Map<String, Object> input);
  }

  public static class AskDocket implements Ask {
    @Override
    @SuppressWarnings("unchecked")
    public Map<String, Object> ask(String endpoint, String operation, Map<String, Object> input) {
      var options = NexusServiceOptions.newBuilder().setEndpoint(endpoint).build();
      return Workflow.newUntypedNexusServiceStub("docket", options).execute(operation, Map.class, input);
    }
  }

  public static void main(String[] args) {
    var target = WorkflowServiceStubsOptions.newBuilder().setTarget(System.getenv("TEMPORAL_ADDRESS")).build();
    var options = WorkflowClientOptions.newBuilder().setNamespace(System.getenv("TEMPORAL_NAMESPACE")).build();
    var client = WorkflowClient.newInstance(WorkflowServiceStubs.newServiceStubs(target), options);
    var factory = WorkerFactory.newInstance(client);
    factory.newWorker("java").registerWorkflowImplementationTypes(AskDocket.class);
    factory.start();
    System.out.println("ready");
  }
}
