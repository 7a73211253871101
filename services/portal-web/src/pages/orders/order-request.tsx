import { Skeleton, Text } from "@mantine/core";
import { asFailure } from "../../api/failure";
import { type Order, useAcceptedRequest } from "../../api/orders";
import { CodeBlock, InlineCode } from "../../components/code-block";
import { ErrorState } from "../../components/error-state";
import { Fact, Facts } from "../../components/facts";
import { MaskedNotice } from "../../components/masked-notice";
import { Section } from "../../components/section";
import { Time } from "../../components/time";

/** The request of the backend, as it was accepted. */
export function OrderRequest({ order }: { order: Order }) {
  const request = useAcceptedRequest(order.id);
  return (
    <Section
      title="Accepted request"
      description="The known fields of your backend’s request, with the pickup details that your profile added."
    >
      {request.isPending && <Skeleton height={180} />}
      {request.error &&
        (asFailure(request.error).status === 404 ? (
          <Text c="dimmed">The request of this order is no longer stored.</Text>
        ) : (
          <ErrorState error={request.error} onRetry={() => request.refetch()} />
        ))}
      {request.data && (
        <>
          <Facts>
            <Fact name="Received">{request.data.receivedAt && <Time at={request.data.receivedAt} />}</Fact>
            <Fact name="Request id">
              {request.data.requestId && <InlineCode>{request.data.requestId}</InlineCode>}
            </Fact>
            <Fact name="Idempotency-Key">
              {request.data.idempotencyKey && <InlineCode>{request.data.idempotencyKey}</InlineCode>}
            </Fact>
            <Fact name="API key">
              {request.data.keyPrefix && (
                <InlineCode>
                  {request.data.keyPrefix}…{request.data.keyLastFour}
                </InlineCode>
              )}
            </Fact>
          </Facts>
          <div style={{ marginTop: 14 }}>
            <MaskedNotice isMasked={request.data.personalDataMasked} />
            <CodeBlock code={JSON.stringify(request.data.body, null, 2)} label="the body of the request" />
          </div>
        </>
      )}
    </Section>
  );
}
