export declare function buildLoginPage(): Promise<string>;
