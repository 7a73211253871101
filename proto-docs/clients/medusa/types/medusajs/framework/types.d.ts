export interface MedusaContainer {
  resolve<Result = unknown>(name: string): Result;
}
