export declare function bundle(source: string): Promise<string>;
export declare function buildLoginPage(): Promise<string>;
