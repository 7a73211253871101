import { Button, Group, Paper, Stack } from "@mantine/core";
import { useState } from "react";
import { Link, useNavigate } from "react-router-dom";
import { useCreateEndpoint } from "../../api/webhooks";
import { NotForRole } from "../../app/not-for-role";
import { useMay } from "../../app/session";
import { BackLink } from "../../components/back-link";
import { CallButton } from "../../components/call-button";
import { FormErrors, focusFirstError } from "../../components/form-errors";
import { PageHeader } from "../../components/page-header";
import { SecretOnce } from "../../components/secret-once";
import { asNewEndpoint, EndpointFields, useEndpointForm } from "./endpoint-form";

export function Component() {
  const canEdit = useMay("manage_integration");
  if (canEdit) return <NewEndpoint />;
  return (
    <>
      <BackLink to="/webhooks">Webhooks</BackLink>
      <PageHeader title="Add an endpoint" />
      <NotForRole what="Only owners and developers can add endpoints." />
    </>
  );
}

function NewEndpoint() {
  const create = useCreateEndpoint();
  const navigate = useNavigate();
  const form = useEndpointForm();
  const [created, setCreated] = useState<{ id: string; secret: string } | null>(null);
  const submit = form.onSubmit(
    (values) =>
      create.mutate(asNewEndpoint(values), { onSuccess: ({ id, secret }) => setCreated({ id, secret }) }),
    focusFirstError(form),
  );
  return (
    <>
      <BackLink to="/webhooks">Webhooks</BackLink>
      <PageHeader title="Add an endpoint" description="You get the signing secret in the next step." />
      <Paper p="lg" maw="46rem">
        <form onSubmit={submit} noValidate>
          <Stack gap="lg">
            <FormErrors error={create.error} form={form} />
            <EndpointFields form={form} />
            <Group justify="flex-end">
              <Button component={Link} to="/webhooks" variant="default">
                Cancel
              </Button>
              <CallButton type="submit" loading={create.isPending}>
                Add endpoint
              </CallButton>
            </Group>
          </Stack>
        </form>
      </Paper>
      <SecretOnce
        secret={created?.secret ?? null}
        title="Your signing secret"
        what="secret"
        onClose={() => created && navigate(`/webhooks/${created.id}?tab=signatures`, { replace: true })}
      >
        Store it in your backend’s configuration. Your receiver needs it to verify that a webhook comes from
        us. The next page has sample code.
      </SecretOnce>
    </>
  );
}
