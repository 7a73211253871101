import { useMutation, useQueryClient } from "@tanstack/react-query";
import { answer, api } from "./client";
import { download } from "./download";
import { useCursorList } from "./list";
import { operatorAnswer, operatorKey } from "./operator-session";
import type { AccountScope } from "./recent-authentication";
import type { components, operations } from "./schema";

export type Export = components["schemas"]["ExportView"];
export type ExportFormat = Export["format"];
export type OrdersQuery = NonNullable<operations["exportOrders"]["parameters"]["query"]>;
export type CashQuery = NonNullable<operations["exportCash"]["parameters"]["query"]>;

/** Also the interval of [`followExport`]. */
export const EXPORT_POLL_MS = 1_000;

function exportsKey(scope: AccountScope) {
  return scope === "portal" ? (["exports"] as const) : ([...operatorKey, "exports"] as const);
}

export function isEnded({ state }: Export): boolean {
  return state === "done" || state === "failed";
}

/** The exports of the user, or of the person of the staff. Read again while a file is written. */
export function useExports(scope: AccountScope) {
  return useCursorList<Export>(
    exportsKey(scope),
    async () => {
      const all =
        scope === "portal"
          ? await answer(api.GET("/v1/portal/exports"))
          : await operatorAnswer(api.GET("/v1/operator/exports"));
      return { data: all.data, hasMore: false };
    },
    { pollMs: (exports) => (exports.every(isEnded) ? false : EXPORT_POLL_MS) },
  );
}

export function readExport(scope: AccountScope, id: string): Promise<Export> {
  const params = { path: { id } };
  return scope === "portal"
    ? answer(api.GET("/v1/portal/exports/{id}", { params }))
    : operatorAnswer(api.GET("/v1/operator/exports/{id}", { params }));
}

export function exportOrders(query: OrdersQuery): Promise<Export> {
  return answer(api.POST("/v1/portal/orders/exports", { params: { query } }));
}

export function exportCash(query: CashQuery): Promise<Export> {
  return answer(api.POST("/v1/portal/cod/exports", { params: { query } }));
}

export function exportOrdersOf(id: string, query: OrdersQuery): Promise<Export> {
  const params = { path: { id }, query };
  return operatorAnswer(api.POST("/v1/operator/businesses/{id}/orders/exports", { params }));
}

export function exportCashOf(id: string, query: CashQuery): Promise<Export> {
  const params = { path: { id }, query };
  return operatorAnswer(api.POST("/v1/operator/businesses/{id}/cod/exports", { params }));
}

/** Reads the list again after each change of it. */
export function useExportChange<Input, Output>(
  scope: AccountScope,
  change: (input: Input) => Promise<Output>,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: exportsKey(scope) }),
  });
}

export function removeExport(scope: AccountScope, id: string) {
  const params = { path: { id } };
  return scope === "portal"
    ? answer(api.DELETE("/v1/portal/exports/{id}", { params }))
    : operatorAnswer(api.DELETE("/v1/operator/exports/{id}", { params }));
}

export function downloadExport(scope: AccountScope, id: string): Promise<void> {
  return download(`/v1/${scope}/exports/${id}/file`);
}
