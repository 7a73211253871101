import { Group, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "react-router-dom";
import { type Endpoint, useDeleteEndpoint, useUpdateEndpoint } from "../../api/webhooks";
import { useMay } from "../../app/session";
import { CallButton } from "../../components/call-button";
import { ConfirmButton } from "../../components/confirm-button";
import { Fact, Facts } from "../../components/facts";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { Section } from "../../components/section";
import { eventLabel } from "../../format/event-labels";
import { asEndpointChange, EndpointFields, useEndpointForm } from "./endpoint-form";
import { RotateSecret } from "./rotate-secret";

export function EndpointSettings({ endpoint }: { endpoint: Endpoint }) {
  const canEdit = useMay("manage_integration");
  if (!canEdit) return <ReadOnly endpoint={endpoint} />;
  return (
    <Stack maw="46rem">
      <Edit endpoint={endpoint} />
      <RotateSecret endpoint={endpoint} />
      <Delete endpoint={endpoint} />
    </Stack>
  );
}

function Edit({ endpoint }: { endpoint: Endpoint }) {
  const update = useUpdateEndpoint(endpoint.id);
  const form = useEndpointForm(endpoint);
  const submit = form.onSubmit(
    (values) =>
      update.mutate(asEndpointChange(values), {
        onSuccess: () => {
          form.resetDirty();
          notifications.show({ message: "Endpoint settings saved." });
        },
      }),
    focusFirstError(form),
  );
  return (
    <Section title="Endpoint settings">
      <form onSubmit={submit} noValidate>
        <Stack gap="lg">
          <FormErrors error={update.error} form={form} />
          <EndpointFields form={form} />
          <Group justify="flex-end">
            <CallButton type="submit" loading={update.isPending} disabled={!form.isDirty()}>
              Save changes
            </CallButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function Delete({ endpoint }: { endpoint: Endpoint }) {
  const remove = useDeleteEndpoint();
  const navigate = useNavigate();
  return (
    <Section title="Delete this endpoint">
      <Group justify="space-between">
        <Text c="dimmed" style={{ flex: "1 1 18rem" }}>
          Nothing more is sent to it, pending webhooks are discarded, and its secret is deleted.
        </Text>
        <ConfirmButton
          title="Delete this endpoint?"
          description={`Nothing more is sent to ${endpoint.url}, and pending webhooks are discarded. This cannot be undone.`}
          confirm="Delete endpoint"
          onConfirm={async () => {
            await remove.mutateAsync(endpoint.id);
            navigate("/webhooks", { replace: true });
          }}
        >
          Delete endpoint
        </ConfirmButton>
      </Group>
    </Section>
  );
}

function ReadOnly({ endpoint }: { endpoint: Endpoint }) {
  return (
    <Section title="Endpoint settings">
      <Facts>
        <Fact name="URL">{endpoint.url}</Fact>
        <Fact name="Modes">{endpoint.modes.join(" and ")}</Fact>
        <Fact name="Events">{endpoint.events.map(eventLabel).join(", ")}</Fact>
        <Fact name="Maximum per second">{endpoint.maxPerSecond ?? "Not set"}</Fact>
      </Facts>
    </Section>
  );
}
