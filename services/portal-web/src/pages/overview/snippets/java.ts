import { indent, orderJson, type SnippetInput } from "./order";

export function java({ apiBaseUrl, apiKey, reference }: SnippetInput): string {
  return `// Save as PlaceOrder.java, then run: java PlaceOrder.java (Java 17 or later)
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class PlaceOrder {
  public static void main(String[] args) throws Exception {
    String apiKey = System.getenv().getOrDefault("WAYBILL_API_KEY", "${apiKey}");
    String order = """
        ${indent(orderJson(reference), "        ")}
        """;

    HttpRequest request = HttpRequest.newBuilder(URI.create("${apiBaseUrl}/integration/orders"))
        .header("Authorization", "Bearer " + apiKey)
        .header("Idempotency-Key", "${reference}")
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(order))
        .build();

    HttpResponse<String> response =
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(response.statusCode() + " " + response.body());
  }
}`;
}
