// What may be switched while the server runs.
#pragma once

namespace tagferry::opcua {

struct settings {
    bool allow_none_policy = true;       ///< SecurityPolicy None is offered and accepted
    bool allow_anonymous = true;         ///< anonymous identity tokens are accepted
    bool allow_anonymous_write = false;  ///< anonymous sessions may write
};

class configuration_backend {
  public:
    /// The settings in force; asked at each use, so a change holds for what comes after it.
    virtual const settings& current() const noexcept = 0;

  protected:
    ~configuration_backend() = default;
};

}  // namespace tagferry::opcua
