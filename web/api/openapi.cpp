#include "web/api/openapi.hpp"

#include <string_view>

namespace tagferry::web {
namespace {

constexpr std::string_view document = R"openapi({
 "openapi":"3.0.3",
 "info":{"title":"Tagferry","version":"1","description":"Values of PLC tags over REST."},
 "paths":{
  "/api/v1/values/{path}":{
   "get":{
    "summary":"The last sample of one tag",
    "parameters":[
     {"$ref":"#/components/parameters/path"},
     {"$ref":"#/components/parameters/max_age"}
    ],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/value"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   },
   "put":{
    "summary":"Writes one tag; the status is that of the outcome",
    "parameters":[{"$ref":"#/components/parameters/path"}],
    "requestBody":{
     "required":true,
     "content":{
      "application/json":{
       "schema":{
        "type":"object",
        "required":["value"],
        "properties":{
         "value":{
          "description":"Boolean, number, string or a list of them; 64-bit integers are strings"
         },
         "reason":{"type":"string","description":"for the log"}
        }
       }
      }
     }
    },
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/write_result"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    },
    "security":[{"token":[]}]
   }
  },
  "/api/v1/values":{
   "get":{
    "summary":"Several samples, by name or by pattern",
    "parameters":[
     {"$ref":"#/components/parameters/tag"},
     {"$ref":"#/components/parameters/filter"},
     {"$ref":"#/components/parameters/max_age"},
     {"$ref":"#/components/parameters/limit"},
     {"$ref":"#/components/parameters/cursor"}
    ],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{"type":"array","items":{"$ref":"#/components/schemas/value"}},
          "next":{"type":"string","nullable":true}
         }
        }
       }
      }
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/values:write":{
   "post":{
    "summary":"Writes several tags, with a result for each in the order asked",
    "requestBody":{
     "required":true,
     "content":{
      "application/json":{
       "schema":{
        "type":"object",
        "required":["items"],
        "properties":{
         "items":{
          "type":"array",
          "maxItems":128,
          "items":{
           "type":"object",
           "required":["path","value"],
           "properties":{
            "path":{"type":"string"},
            "value":{
             "description":"Boolean, number, string or a list of them; 64-bit integers are strings"
            }
           }
          }
         },
         "reason":{"type":"string"}
        }
       }
      }
     }
    },
    "responses":{
     "200":{
      "description":"The answer",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "results":{"type":"array","items":{"$ref":"#/components/schemas/write_result"}}
         }
        }
       }
      }
     },
     "default":{"$ref":"#/components/responses/problem"}
    },
    "security":[{"token":[]}]
   }
  },
  "/api/v1/tags/{path}":{
   "get":{
    "summary":"What one tag is",
    "parameters":[{"$ref":"#/components/parameters/path"}],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/tag"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/tags":{
   "get":{
    "summary":"What tags there are",
    "parameters":[
     {"$ref":"#/components/parameters/filter"},
     {"$ref":"#/components/parameters/limit"},
     {"$ref":"#/components/parameters/cursor"}
    ],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{"type":"array","items":{"$ref":"#/components/schemas/tag"}},
          "next":{"type":"string","nullable":true}
         }
        }
       }
      }
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/browse/{path}":{
   "get":{
    "summary":"Children of a node",
    "parameters":[
     {"$ref":"#/components/parameters/path"},
     {"$ref":"#/components/parameters/limit"},
     {"$ref":"#/components/parameters/cursor"}
    ],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{"type":"array","items":{"$ref":"#/components/schemas/node"}},
          "next":{"type":"string","nullable":true}
         }
        }
       }
      }
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/browse":{
   "get":{
    "summary":"Children of the root",
    "parameters":[
     {"$ref":"#/components/parameters/limit"},
     {"$ref":"#/components/parameters/cursor"}
    ],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{"type":"array","items":{"$ref":"#/components/schemas/node"}},
          "next":{"type":"string","nullable":true}
         }
        }
       }
      }
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/connections/{name}":{
   "get":{
    "summary":"One connection",
    "parameters":[{"$ref":"#/components/parameters/name"}],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"$ref":"#/components/schemas/connection"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/connections":{
   "get":{
    "summary":"The connections",
    "parameters":[
     {"$ref":"#/components/parameters/limit"},
     {"$ref":"#/components/parameters/cursor"}
    ],
    "responses":{
     "200":{
      "description":"The answer",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "items":{"type":"array","items":{"$ref":"#/components/schemas/connection"}},
          "next":{"type":"string","nullable":true}
         }
        }
       }
      }
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/stream":{
   "get":{
    "summary":"Upgrades to a WebSocket of the subprotocol tagferry.v1.json",
    "responses":{
     "101":{"description":"The answer"},
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/status":{
   "get":{
    "summary":"The gateway in a few numbers",
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"type":"object"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/version":{
   "get":{
    "summary":"What runs",
    "responses":{
     "200":{
      "description":"The answer",
      "content":{
       "application/json":{
        "schema":{
         "type":"object",
         "properties":{
          "product":{"type":"string"},
          "version":{"type":"string"},
          "started":{"type":"string","format":"date-time","nullable":true}
         }
        }
       }
      }
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/api/v1/openapi.json":{
   "get":{
    "summary":"This document",
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"type":"object"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/healthz":{
   "get":{
    "summary":"Whether the process works",
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"type":"object"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/readyz":{
   "get":{
    "summary":"Whether it serves",
    "responses":{
     "200":{
      "description":"The answer",
      "content":{"application/json":{"schema":{"type":"object"}}}
     },
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  },
  "/metrics":{
   "get":{
    "summary":"Metrics for Prometheus",
    "responses":{
     "200":{"description":"The answer","content":{"text/plain":{"schema":{"type":"string"}}}},
     "default":{"$ref":"#/components/responses/problem"}
    }
   }
  }
 },
 "components":{
  "securitySchemes":{"token":{"type":"http","scheme":"bearer"}},
  "responses":{
   "problem":{
    "description":"What is wrong and what to do about it (RFC 9457)",
    "content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/problem"}}}
   }
  },
  "parameters":{
   "path":{
    "name":"path",
    "in":"path",
    "required":true,
    "schema":{"type":"string"},
    "description":"Path of a tag or node, with literal or encoded slashes"
   },
   "name":{"name":"name","in":"path","required":true,"schema":{"type":"string"}},
   "tag":{
    "name":"tag",
    "in":"query",
    "schema":{"type":"array","items":{"type":"string"}},
    "explode":true
   },
   "filter":{
    "name":"filter",
    "in":"query",
    "schema":{"type":"string"},
    "description":"Pattern: * within one part, ** across parts, ? one character"
   },
   "max_age":{
    "name":"max_age",
    "in":"query",
    "schema":{"type":"string"},
    "description":"Ask the device unless the sample is at most so old: 0, 2, 500ms"
   },
   "limit":{"name":"limit","in":"query","schema":{"type":"integer","minimum":1,"maximum":1000}},
   "cursor":{"name":"cursor","in":"query","schema":{"type":"string"}}
  },
  "schemas":{
   "value":{
    "type":"object",
    "properties":{
     "path":{"type":"string"},
     "value":{
      "description":"Boolean, number, string or a list of them; 64-bit integers are strings"
     },
     "status":{"type":"string"},
     "reason":{"type":"string","nullable":true},
     "source_timestamp":{"type":"string","format":"date-time","nullable":true},
     "server_timestamp":{"type":"string","format":"date-time","nullable":true},
     "last_good":{
      "type":"object",
      "properties":{
       "value":{
        "description":"Boolean, number, string or a list of them; 64-bit integers are strings"
       },
       "source_timestamp":{"type":"string","format":"date-time","nullable":true}
      }
     }
    }
   },
   "write_result":{
    "type":"object",
    "properties":{
     "path":{"type":"string"},
     "ok":{"type":"boolean"},
     "outcome":{"type":"string","enum":["answered","not_sent","unknown","partial","rejected"]},
     "status":{"type":"string"},
     "code":{"type":"string"},
     "reason":{"type":"string","nullable":true},
     "remedy":{"type":"string","nullable":true},
     "device_code":{"type":"string"},
     "bytes_written":{"type":"integer"}
    }
   },
   "tag":{
    "type":"object",
    "properties":{
     "path":{"type":"string"},
     "node_id":{"type":"string"},
     "type":{"type":"string"},
     "address":{"type":"string"},
     "access":{"type":"string","enum":["read","read_write","write","none"]},
     "scan_class":{"type":"string"},
     "unit":{"type":"string","nullable":true},
     "description":{"type":"string","nullable":true}
    }
   },
   "node":{
    "type":"object",
    "properties":{
     "path":{"type":"string"},
     "name":{"type":"string"},
     "kind":{"type":"string","enum":["connection","group","tag"]},
     "node_id":{"type":"string"},
     "type":{"type":"string","nullable":true},
     "has_children":{"type":"boolean"}
    }
   },
   "connection":{
    "type":"object",
    "properties":{
     "name":{"type":"string"},
     "protocol":{"type":"string"},
     "endpoint":{"type":"string"},
     "state":{"type":"string"},
     "up":{"type":"boolean"},
     "reason":{"type":"string","nullable":true},
     "since":{"type":"string","format":"date-time","nullable":true},
     "next_attempt":{"type":"string","format":"date-time","nullable":true},
     "connects":{"type":"integer"},
     "connect_failures":{"type":"integer"},
     "requests":{"type":"integer"},
     "request_failures":{"type":"integer"},
     "overruns":{"type":"integer"},
     "pdu_size":{"type":"integer"},
     "window":{"type":"integer"},
     "tags":{
      "type":"object",
      "properties":{
       "total":{"type":"integer"},
       "good":{"type":"integer"},
       "uncertain":{"type":"integer"},
       "bad":{"type":"integer"}
      }
     }
    }
   },
   "problem":{
    "type":"object",
    "required":["type","code","title","status"],
    "properties":{
     "type":{"type":"string"},
     "code":{"type":"string"},
     "title":{"type":"string"},
     "status":{"type":"integer"},
     "detail":{"type":"string"},
     "subject":{"type":"string"},
     "hint":{"type":"string"},
     "errors":{
      "type":"array",
      "items":{
       "type":"object",
       "properties":{"pointer":{"type":"string"},"detail":{"type":"string"}}
      }
     },
     "outcome":{"type":"string"},
     "opcua_status":{"type":"string"},
     "device_code":{"type":"string"},
     "bytes_written":{"type":"integer"}
    }
   }
  }
 }
}
)openapi";

}  // namespace

asset openapi_document() noexcept {
    return {.path = "/api/v1/openapi.json",
            .content_type = "application/json",
            .bytes = {reinterpret_cast<const unsigned char*>(document.data()), document.size()}};
}

}  // namespace tagferry::web
