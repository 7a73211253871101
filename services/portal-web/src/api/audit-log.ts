import { answer, api } from "./client";
import { PAGE_SIZE, useCursorList } from "./list";

export interface AuditFilter {
  action?: string;
  userId?: string;
  address?: string;
  since?: string;
  until?: string;
}

export function useAuditLog(filter: AuditFilter) {
  return useCursorList(["audit-log", filter], (startingAfter) =>
    answer(
      api.GET("/v1/portal/audit-log", { params: { query: { ...filter, limit: PAGE_SIZE, startingAfter } } }),
    ),
  );
}
