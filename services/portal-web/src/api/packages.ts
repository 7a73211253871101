import { useQuery } from "@tanstack/react-query";
import { version } from "../../package.json";
import { answer, api } from "./client";
import { docsUrl, useConfig } from "./config";

/** The addresses of the packages for integrators. They have the version of the service; null for one that it does not serve. */
export interface ClientPackages {
  npm: string | null;
  python: string | null;
}

export function useClientPackages(): ClientPackages {
  const config = useConfig();
  const { data, isPending } = useQuery({
    queryKey: ["packages"],
    queryFn: () => answer(api.GET("/v1/portal/packages")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const address = (name: string) =>
    isPending || data?.data.includes(name) ? `${docsUrl(config, "downloads")}/${name}` : null;
  return {
    npm: address(`waybill-client-${version}.tgz`),
    python: address(`waybill-${version}-py3-none-any.whl`),
  };
}
