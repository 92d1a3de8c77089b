import docket.ApiClient;
import docket.ApiException;
import docket.api.TicketsApi;
import docket.model.Claim;
import docket.model.ClaimAnswer;
import docket.model.Decide;
import docket.model.DecideAnswer;
import docket.model.HandedTicket;
import docket.model.NewTicket;
import docket.model.Problem;
import docket.model.Ticket;
import docket.model.TicketState;
import java.util.List;
import java.util.Map;

/** Adds, claims and decides a ticket with the client that openapi-generator has made. */
public final class Main {
    public static void main(String[] args) throws Exception {
        ApiClient client = new ApiClient();
        client.updateBaseUri(args[0]);
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
        TicketsApi tickets = new TicketsApi(client);

        NewTicket sent = new NewTicket()
            .id("report-1")
            .body(Map.of("text", "Followers for sale"))
            .priority(3)
            .requires(List.of("en"));
        Ticket added = tickets.addTicket("reports", sent, null);
        check(added.getState() == TicketState.WAITING, added);

        ClaimAnswer claimed = tickets.claimTickets("reports", new Claim().reviewer("anna").skills(List.of("en")));
        check(claimed.getTickets().size() == 1, claimed);
        HandedTicket held = claimed.getTickets().get(0);
        String token = held.getLease().getToken();

        Map<String, String> decision = Map.of("verdict", "remove");
        String refused = "";
        try {
            tickets.decideTicket(held.getId(), new Decide().token(token + "x").decision(decision));
        } catch (ApiException e) {
            Problem problem = client.getObjectMapper().readValue(e.getResponseBody(), Problem.class);
            refused = problem.getCode();
        }

        DecideAnswer decided = tickets.decideTicket(held.getId(), new Decide().token(token).decision(decision));
        check("anna".equals(decided.getTicket().getDecidedBy()), decided);
        System.out.printf("{\"id\": \"%s\", \"refused\": \"%s\"}%n", added.getId(), refused);
    }

    private static void check(boolean holds, Object otherwise) {
        if (!holds) throw new IllegalStateException(otherwise.toString());
    }
}
